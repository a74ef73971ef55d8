#include "input.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

namespace layard::cli {
namespace {

Result<std::string> read_stream(std::istream& stream, const std::string& name) {
  std::string text;
  char buffer[65536];
  while (stream.read(buffer, sizeof(buffer)) || stream.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kInputBytesMax) {
      return Error{ErrorCode::kInvalidRequest, name + " is over the limit of " +
                                                   std::to_string(kInputBytesMax >> 20U) + " MiB"};
    }
  }
  if (stream.bad()) return Error{ErrorCode::kIo, "cannot read " + name};
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{ErrorCode::kIo, "cannot read '" + path + "': " + std::strerror(errno)};
  }
  file.peek();  // a folder opens but cannot be read
  if (file.bad()) return Error{ErrorCode::kIo, "cannot read '" + path + "': not a regular file"};
  return read_stream(file, "'" + path + "'");
}

Result<std::string> read_value(const std::string& option, const std::string& value) {
  if (value == "-") return read_stream(std::cin, "standard input (" + option + ")");
  if (!value.starts_with("@")) return value;
  auto text = read_file(value.substr(1));
  if (text.ok()) return text;
  return Error{text.error().code, option + ": " + text.error().message +
                                      " (a value that starts with @ names a file; give such a text "
                                      "through -)"};
}

Status check_one_stdin(const std::string& first, const std::string& second) {
  if (first == "-" && second == "-") {
    return Error{ErrorCode::kInvalidRequest,
                 "--context and --questions cannot both read standard input; give one as @FILE"};
  }
  return {};
}

}  // namespace layard::cli
