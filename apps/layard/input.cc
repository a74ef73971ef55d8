#include "input.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "layard/words.h"
#include "table.h"

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
  if (value.starts_with('{') || value.starts_with('[')) {
    if (value.find_first_of("\"'") != std::string::npos) return "";
    return "; no quote is left in it, as when the shell takes them: put the JSON in single quotes, "
           "--questions '{...}', or in a file, --questions @FILE";
  }
  if (value.find_first_of("@-") == 0) return "";
  return "; --questions takes JSON: for a yes/no question write '[\"Is it urgent?\"]', quotes "
         "included";
}

// A text without blanks that names a file is most likely meant to be the file. It may well be meant
// as it is ("Makefile"), so it is answered.
void warn_about_file_name(const std::string& option, const std::string& value) {
  constexpr std::size_t kPathBytesMax = 4096;
  if (value.empty() || value.size() > kPathBytesMax) return;
  if (value.find_first_of(" \t\r\n\v\f") != std::string::npos) return;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(value, ignored)) return;
  const std::string name = shell_quoted(printable(value));
  spdlog::warn("{} {} is read as a text, and a file has that name; did you mean {} @{}?", option,
               name, option, name);
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
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      is_ready(-1);  // whoever opened it wants no reader to wait; we do
    } else if (errno != EINTR) {
      return unreadable(name_);
    }
  }
}

bool Source::is_ready(int wait_ms) const {
  pollfd waiting{descriptor_, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, wait_ms);
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

// Moves what the buffer has of the current line to it; true when its end was there.
bool LineReader::take_from_buffer() {
  const std::size_t end = buffer_.find('\n', at_);
  const std::size_t stop = end == std::string::npos ? buffer_.size() : end;
  line_bytes_ += stop - at_;
  if (!too_long_) line_.append(buffer_, at_, stop - at_);
  if (line_.size() > kInputBytesMax) {
    too_long_ = true;
    line_.clear();
  }
  at_ = end == std::string::npos ? stop : stop + 1;
  return end != std::string::npos;
}

void LineReader::hand_out(std::string& line, bool& too_long) {
  if (line_.ends_with('\r')) line_.pop_back();
  std::swap(line, line_);
  too_long = std::exchange(too_long_, false);
  line_.clear();
  line_bytes_ = 0;
}

Result<LineReader::Next> LineReader::next(std::string& line, bool& too_long, int wait_ms) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + std::chrono::milliseconds(wait_ms);
  while (!take_from_buffer()) {
    if (line_bytes_ > kSkippedBytesMax) {
      return Error{ErrorCode::kInvalidRequest, source_.name() + " has a line without an end"};
    }
    if (wait_ms >= 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      if (!source_.is_ready(static_cast<int>(std::max<std::int64_t>(left, 0)))) return Next::kPause;
    }
    buffer_.resize(kPiece);
    at_ = 0;
    auto got = source_.read(buffer_.data(), kPiece);
    buffer_.resize(got.ok() ? *got : 0);
    if (!got.ok()) return got.error();
    if (*got > 0) continue;
    if (line_bytes_ == 0) return Next::kEnd;
    break;  // a last line without an end
  }
  hand_out(line, too_long);
  return Next::kLine;
}

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  if (path == "-") return Error{ErrorCode::kInvalidRequest, "'-' is not a file"};
  LAYARD_ASSIGN(Source source, Source::open(path));
  return read_all(std::move(source), bytes_max);
}

Result<std::string> read_value(const std::string& option, const std::string& value) {
  if (value != "-" && !value.starts_with("@")) {
    if (option != "--questions") warn_about_file_name(option, value);
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
  // A text of one line: that its JSON is at fault in line 1 would only contradict the number.
  constexpr std::string_view kOwnLine = "JSON at line 1, ";
  if (error.message.starts_with(kOwnLine)) error.message.replace(0, kOwnLine.size(), "JSON at ");
  error.message = "line " + std::to_string(number) + ": " + error.message;
  return error;
}

}  // namespace layard::cli
