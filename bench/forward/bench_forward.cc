// Times forward passes of one checkpoint on request: reads lines `tokens rows`, answers each with
// the milliseconds of one pass. The peer script drives it, so that both are measured in turn.
//
//   bench_forward FOLDER THREADS [ISA [DTYPE]]
#include <chrono>
#include <iostream>
#include <vector>

#include "layard/model.h"

namespace {

using layard::Request;

// A text of so many words; the row's true length is reported back.
std::string text_of(int words) {
  std::string text;
  for (int i = 0; i < words; ++i) text += i % 2 == 0 ? "order " : "refund ";
  return text;
}

double milliseconds(layard::Model& model, const std::vector<Request>& requests,
                    std::int64_t& length) {
  const auto start = std::chrono::steady_clock::now();
  auto results = model.predict_many(requests, {});
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  length = results.front()->runtime.sequence_length;
  return elapsed.count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: bench_forward FOLDER THREADS [ISA [DTYPE]]\n";
    return 2;
  }
  layard::ModelOptions options;
  options.model = argv[1];
  options.environment.threads = std::stoi(argv[2]);
  if (argc > 3) options.environment.force_isa = argv[3];
  if (argc > 4) options.dtype = argv[4];
  const auto model = layard::Model::open(options).value();
  std::cout << "ready" << std::endl;
  int words = 0;
  int rows = 0;
  while (std::cin >> words >> rows) {
    Request request;
    request.state.text = text_of(words);
    request.questions = layard::parse_questions(
                            R"({"q":{"type":"noul","instructions":"Is money asked back?"}})", {})
                            .value();
    const std::vector<Request> requests(static_cast<std::size_t>(rows), request);
    std::int64_t length = 0;
    const double elapsed = milliseconds(*model, requests, length);
    std::cout << elapsed << " " << length << std::endl;
  }
  return 0;
}
