#include "input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace layard::cli {
namespace {

constexpr std::size_t kPiece = 65536;

Error unreadable(const std::string& name) {
  return {ErrorCode::kIo, "cannot read " + name + ": " + std::strerror(errno)};
}

Result<std::string> read_all(Source source, std::size_t bytes_max) {
  std::string text;
  std::string piece(kPiece, '\0');
  while (true) {
    LAYARD_ASSIGN(const std::size_t got, source.read(piece.data(), piece.size()));
    if (got == 0) break;
    text.append(piece, 0, got);
    if (text.size() > bytes_max) {
      return Error{ErrorCode::kInvalidRequest, source.name() + " is over the limit of " +
                                                   std::to_string(bytes_max >> 20U) + " MiB"};
    }
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

// Where a value of an option comes from: `--context`, `--context @file`, `--context -`.
std::string origin(const std::string& option, const std::string& value) {
  return value == "-" || value.starts_with("@") ? option + " " + value : option;
}

Status check_one_stdin(const std::string& context, const std::string& questions) {
  if (context == "-" && questions == "-") {
    return Error{ErrorCode::kInvalidRequest,
                 "--context and --questions cannot both read standard input; give one as @FILE"};
  }
  return {};
}

// What is commonly meant by a value of --questions that is not JSON.
std::string questions_hint(const std::string& value) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(value, ignored)) {
    return "; to read the file write @" + value;
  }
  if (value.find_first_of("[{@-") == 0) return "";
  return "; it is JSON: for a yes/no question write '[\"Is it urgent?\"]', quotes included";
}

}  // namespace

Result<Source> Source::open(const std::string& path) {
  if (path == "-") return Source(STDIN_FILENO, "standard input");
  const std::string file = path.substr(path.starts_with("@") ? 1 : 0);
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return unreadable("'" + file + "'");
  return Source(descriptor, "'" + file + "'");
}

Source::Source(Source&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)) {}

Source::~Source() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

Result<std::size_t> Source::read(char* buffer, std::size_t size) {
  while (true) {
    const ssize_t got = ::read(descriptor_, buffer, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return unreadable(name_);
  }
}

Result<bool> LineReader::next(std::string& line, bool& too_long) {
  line.clear();
  too_long = false;
  bool any = false;
  std::size_t bytes = 0;
  while (true) {
    const std::size_t end = buffer_.find('\n', at_);
    const std::size_t stop = end == std::string::npos ? buffer_.size() : end;
    bytes += stop - at_;
    if (bytes > kSkippedBytesMax) {
      return Error{ErrorCode::kInvalidRequest, source_.name() + " has a line without an end"};
    }
    any = any || stop > at_ || end != std::string::npos;
    if (!too_long) line.append(buffer_, at_, stop - at_);
    if (line.size() > kInputBytesMax) {
      too_long = true;
      line.clear();
    }
    at_ = end == std::string::npos ? stop : stop + 1;
    if (end != std::string::npos) break;
    buffer_.resize(kPiece);
    at_ = 0;
    auto got = source_.read(buffer_.data(), kPiece);
    buffer_.resize(got.ok() ? *got : 0);
    if (!got.ok()) return got.error();
    if (*got == 0) return any;
  }
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  if (path == "-") return Error{ErrorCode::kInvalidRequest, "'-' is not a file"};
  LAYARD_ASSIGN(Source source, Source::open(path));
  return read_all(std::move(source), bytes_max);
}

Result<std::string> read_value(const std::string& option, const std::string& value) {
  if (value != "-" && !value.starts_with("@")) {
    if (value.size() <= kInputBytesMax) return value;
    return Error{ErrorCode::kInvalidRequest, option + " is over the limit of 16 MiB"};
  }
  auto source = Source::open(value);
  auto text = source.ok() ? read_all(*std::move(source), kInputBytesMax)
                          : Result<std::string>(source.error());
  if (text.ok()) return text;
  std::string message = option + ": " + text.error().message;
  if (value != "-" && text.error().code == ErrorCode::kIo) {
    message += " (a value that starts with @ names a file; give such a text through -)";
  }
  return Error{text.error().code, message};
}

Result<RequestInput> read_request(const std::string& context, const std::string& questions) {
  LAYARD_TRY(check_one_stdin(context, questions));
  RequestInput input;
  LAYARD_ASSIGN(input.context, read_value("--context", context));
  LAYARD_ASSIGN(input.questions_text, read_value("--questions", questions));
  auto state = context_from_text(input.context);
  if (!state.ok()) {
    return Error{state.error().code, origin("--context", context) + ": " + state.error().message};
  }
  auto parsed = parse_questions(input.questions_text, {});
  if (!parsed.ok()) {
    return Error{parsed.error().code, origin("--questions", questions) + ": " +
                                          parsed.error().message + questions_hint(questions)};
  }
  input.state = *std::move(state);
  input.questions = *std::move(parsed);
  return input;
}

Error at_line(std::uint64_t number, Error error) {
  error.message = "line " + std::to_string(number) + ": " + error.message;
  return error;
}

}  // namespace layard::cli
