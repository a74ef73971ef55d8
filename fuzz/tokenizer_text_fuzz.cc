// A byte that chooses a tokenizer, one of each family, and any bytes as a text for it: no crash,
// ids of the vocabulary, the same ids every time and through the cache, ill-formed UTF-8 read as if
// it had been repaired before.
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>

#include "tokenizer/decoder/decoder.h"
#include "tokenizer_fuzz_support.h"

namespace {

using namespace layard;

// A tokenizer and a cache that lives as long as the fuzzer: what it keeps must stay true.
struct Subject {
  std::shared_ptr<const tokenizer::Tokenizer> tokens;
  std::unique_ptr<tokenizer::IdCache> cache;
  std::size_t id_end;  // the fixtures number their tokens without gaps
};

Subject load(const char* name) {
  const std::ifstream file(std::string(LAYARD_SOURCE_DIR "/tests/fixtures/tokenizers/") + name,
                           std::ios::binary);
  std::ostringstream json;
  json << file.rdbuf();
  auto tokens = tokenizer::Tokenizer::from_json(std::move(json).str());
  fuzz::require(tokens.ok());
  const std::size_t id_end = (*tokens)->vocab_size();
  return {*std::move(tokens), std::make_unique<tokenizer::IdCache>(64), id_end};
}

const std::array<Subject, 6>& subjects() {
  // '0' to '5' in the seeds: byte-level BPE; BPE over metaspaces with byte fallback, whole and in
  // part; Gemma's kind; characters with a suffix; WordPiece.
  static const std::array<Subject, 6> all{
      load("byte_level.json"), load("llama.json"),  load("partial_fallback.json"),
      load("gemma.json"),      load("suffix.json"), load("wordpiece_uncased.json")};
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Subject& subject = subjects()[data[0] % subjects().size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto known = subject.cache->find(text);
  std::vector<std::int32_t> ids;
  subject.tokens->encode(text, ids);
  fuzz::require(!known.has_value() || *known == ids);
  for (const std::int32_t id : ids) {
    fuzz::require(id >= 0 && static_cast<std::size_t>(id) < subject.id_end);
  }
  std::string repaired;
  tokenizer::append_lossy(text, repaired);
  fuzz::require(base::is_valid_utf8(repaired));
  if (repaired != text) {
    std::vector<std::int32_t> of_repaired;
    subject.tokens->encode(repaired, of_repaired);
    fuzz::require(of_repaired == ids);
  }
  fuzz::encode_and_decode(*subject.tokens, text, *subject.cache);
  return 0;
}
