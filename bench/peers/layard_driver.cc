// Layard as one of the engines of the peer benchmark: one process that stays, timed on request.
//
//   layard_driver FOLDER DTYPE THREADS
//
// The first line out is the model's info as JSON. Then commands come in, one header line and COUNT
// request lines (`{"state", "questions"}`), and each is answered with one line of JSON:
//   raw COUNT              [result, ...] with the rows, ids and logits of every request
//   forward REPEATS COUNT  {"ms": the forward pass of all requests together, each repeat}
//   batch REPEATS COUNT    {"ms": lines of JSON in, lines of JSON out, as `layard predict --batch`}
//   text REPEATS COUNT     {"ms": one line in, its JSON out; repeats take the requests in turn}
// Each timed command runs one untimed pass before.
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "layard/model.h"

namespace {

using layard::Request;

layard::CodecOptions one_line() {
  layard::CodecOptions codec;
  codec.layout = layard::JsonLayout::kSpaced;
  return codec;
}

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

class Driver {
 public:
  explicit Driver(layard::Model& model) : model_(model) {}

  // Answers one header line with its requests from `in`. Returns false at the end of input.
  bool answer(std::istream& in) {
    std::string header;
    if (!std::getline(in, header)) return false;
    std::istringstream words(header);
    std::string command;
    std::size_t repeats = 1;
    std::size_t count = 0;
    words >> command;
    if (command != "raw") words >> repeats;
    words >> count;
    lines_.resize(count);
    for (std::string& line : lines_) std::getline(in, line);
    if (command == "raw") {
      print_raw();
    } else if (command == "text") {
      print_times(repeats, [this](std::size_t at) {
        return milliseconds(
            [&] { model_.predict_json(lines_[at % lines_.size()], one_line()).value(); });
      });
    } else if (command == "batch") {
      print_times(repeats, [this](std::size_t) { return milliseconds([this] { run_batch(); }); });
    } else {
      const std::vector<Request> requests = parsed();
      print_times(repeats, [&](std::size_t) {
        return *model_.predict_many(requests, {}).front()->runtime.device_ms;
      });
    }
    return true;
  }

 private:
  std::vector<Request> parsed() const {
    std::vector<Request> requests;
    for (const std::string& line : lines_) {
      requests.push_back(layard::parse_request(line, {}).value());
    }
    return requests;
  }

  // Returns the bytes printed, so that nothing is left out as unused.
  std::size_t run_batch() const {
    std::size_t bytes = 0;
    for (const auto& result : model_.predict_many(parsed(), {})) {
      bytes += layard::print_prediction(result.value(), one_line()).size();
    }
    return bytes;
  }

  void print_raw() const {
    layard::PredictOptions options;
    options.raw = true;
    std::cout << "[";
    const char* separator = "";
    for (const auto& result : model_.predict_many(parsed(), options)) {
      std::cout << separator << layard::print_prediction(result.value(), one_line());
      separator = ", ";
    }
    std::cout << "]" << std::endl;
  }

  static void print_times(std::size_t repeats, const std::function<double(std::size_t)>& once) {
    once(0);
    std::cout << "{\"ms\": [";
    for (std::size_t i = 0; i < repeats; ++i) std::cout << (i > 0 ? ", " : "") << once(i + 1);
    std::cout << "]}" << std::endl;
  }

  layard::Model& model_;
  std::vector<std::string> lines_;
};

int run(char** argv) {
  layard::ModelOptions options;
  options.environment = layard::Environment::from_process().value();
  options.model = argv[1];
  options.dtype = argv[2];
  options.tie_recheck = false;  // the format itself is timed
  options.local_files_only = true;
  options.environment.threads = std::stoi(argv[3]);
  const auto model = layard::Model::open(options).value();
  std::string info = model->info_json();
  std::erase(info, '\n');
  std::cout << info << std::endl;
  Driver driver(*model);
  while (driver.answer(std::cin)) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: layard_driver FOLDER DTYPE THREADS\n";
    return 2;
  }
  try {
    return run(argv);
  } catch (const std::exception& error) {
    std::cerr << "layard_driver: " << error.what() << "\n";
    return 2;
  }
}
