// Encodes length-prefixed texts from standard input and writes ids, for diff.py beside it.
// usage: tokenizer_dump TOKENIZER.JSON
// Input: for each text its bytes as a 32-bit number, then the bytes. Output: for each text the
// number of ids, the ids, the bytes of the decoded ids, then those bytes. All numbers are 32-bit in
// the machine's order.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace {

bool read_exactly(void* to, std::size_t bytes) { return std::fread(to, 1, bytes, stdin) == bytes; }

void write_number(std::size_t number) {
  const auto value = static_cast<std::uint32_t>(number);
  std::fwrite(&value, sizeof value, 1, stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: tokenizer_dump TOKENIZER.JSON < TEXTS > IDS\n";
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  const auto tokenizer = layard::tokenizer::Tokenizer::from_json(std::move(content).str());
  if (!tokenizer.ok()) {
    std::cerr << layard::error_type_name(tokenizer.error().code) << ": "
              << tokenizer.error().message << "\n";
    return 2;
  }
  std::uint32_t bytes = 0;
  std::string text;
  std::vector<std::int32_t> ids;
  while (read_exactly(&bytes, sizeof bytes)) {
    text.resize(bytes);
    if (!read_exactly(text.data(), bytes)) return 1;
    ids.clear();
    (*tokenizer)->encode(text, ids);
    write_number(ids.size());
    std::fwrite(ids.data(), sizeof(std::int32_t), ids.size(), stdout);
    const std::string decoded = (*tokenizer)->decode(ids);
    write_number(decoded.size());
    std::fwrite(decoded.data(), 1, decoded.size(), stdout);
    std::fflush(stdout);  // the reader waits for this text's answer before it sends more
  }
  return 0;
}
