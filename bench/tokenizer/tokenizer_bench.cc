// How fast tokenizers encode and load.
// usage: tokenizer_bench [--tokenizer=NAME=TOKENIZER.JSON ...] [--text=NAME=FILE ...]
//                        [--write-text=BYTES] [Google Benchmark's options]
// Without --tokenizer the fixtures of the tests are measured, without --text made-up English of
// 1 KB and 100 KB. --write-text prints such a text and ends.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/english_text.h"
#include "tokenizer/tokenizer.h"

namespace {

using layard::tokenizer::Tokenizer;
using Named = std::pair<std::string, std::string>;

constexpr std::uint64_t kTextSeed = 20240601;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::cerr << "error: cannot read " << path << "\n";
    std::exit(2);
  }
  std::ostringstream content;
  content << file.rdbuf();
  return std::move(content).str();
}

void measure_load(benchmark::State& state, const std::string& json) {
  for (auto _ : state) {
    auto tokenizer = Tokenizer::from_json(json);
    if (!tokenizer.ok()) state.SkipWithError(tokenizer.error().message.c_str());
    benchmark::DoNotOptimize(tokenizer);
  }
}

void measure_encode(benchmark::State& state, const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::int32_t> ids;
  for (auto _ : state) {
    ids.clear();
    tokenizer.encode(text, ids);
    benchmark::DoNotOptimize(ids.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["ids"] = static_cast<double>(ids.size());
}

Named split_name(std::string_view value) {
  const std::size_t equals = value.find('=');
  if (equals == std::string_view::npos) {
    std::cerr << "error: expected NAME=FILE, found " << value << "\n";
    std::exit(2);
  }
  return {std::string(value.substr(0, equals)), std::string(value.substr(equals + 1))};
}

// Takes our own options out of the arguments.
void take_options(int& argc, char** argv, std::vector<Named>& tokenizers,
                  std::vector<Named>& texts) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--tokenizer=")) {
      tokenizers.push_back(split_name(argument.substr(12)));
    } else if (argument.starts_with("--text=")) {
      const Named text = split_name(argument.substr(7));
      texts.emplace_back(text.first, read_file(text.second));
    } else if (argument.starts_with("--write-text=")) {
      std::cout << layard::bench::english_text(std::strtoul(argv[i] + 13, nullptr, 10), kTextSeed);
      std::exit(0);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Named> tokenizers;
  std::vector<Named> texts;
  take_options(argc, argv, tokenizers, texts);
  if (tokenizers.empty()) {
    for (const char* name : {"byte_level", "gemma", "metaspace_first", "wordpiece_uncased"}) {
      tokenizers.emplace_back(
          name, std::string(LAYARD_SOURCE_DIR "/tests/fixtures/tokenizers/") + name + ".json");
    }
  }
  if (texts.empty()) {
    texts.emplace_back("1KB", layard::bench::english_text(1000, kTextSeed));
    texts.emplace_back("100KB", layard::bench::english_text(100000, kTextSeed));
  }
  for (const auto& [name, path] : tokenizers) {
    const std::string json = read_file(path);
    auto tokenizer = Tokenizer::from_json(json);
    if (!tokenizer.ok()) {
      std::cerr << "error: " << path << ": " << tokenizer.error().message << "\n";
      return 2;
    }
    benchmark::RegisterBenchmark(("load/" + name).c_str(), [json](benchmark::State& state) {
      measure_load(state, json);
    })->Unit(benchmark::kMillisecond);
    for (const auto& [text_name, text] : texts) {
      benchmark::RegisterBenchmark(("encode/" + name + "/" + text_name).c_str(),
                                   [shared = *tokenizer, text = text](benchmark::State& state) {
                                     measure_encode(state, *shared, text);
                                   })
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
