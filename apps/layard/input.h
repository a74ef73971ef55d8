/// Values of options: inline text, `@file`, or `-` for standard input; and lines of a batch.
#pragma once

#include <cstdint>
#include <string>

#include "layard/error.h"
#include "layard/question.h"

namespace layard::cli {

/// Bytes a value may have, wherever it comes from; tokenizing takes some 160 times as much memory.
inline constexpr std::size_t kInputBytesMax = std::size_t{16} << 20;
/// Bytes a file of reference outputs may have.
inline constexpr std::size_t kFileBytesMax = std::size_t{256} << 20;

/// The text that `value` of `option` stands for. A byte-order mark at its start is dropped. Warns
/// about a text that is the name of a file, unless the option wants JSON, which no name is.
/// Errors: kIo (unreadable file), kInvalidRequest (too large).
Result<std::string> read_value(const std::string& option, const std::string& value);

/// What --context and --questions of one call stand for.
struct RequestInput {
  std::string context;
  std::string questions_text;
  State state;
  QuestionSet questions;
};

/// Reads and checks both. Errors: those of read_value, and kInvalidRequest for what is read; the
/// text begins with the option and the file it came from.
Result<RequestInput> read_request(const std::string& context, const std::string& questions);

/// `error` of a line of a batch: its text begins with the line's number.
Error at_line(std::uint64_t number, Error error);

/// A whole file. Errors: kIo, kInvalidRequest (more than `bytes_max`).
Result<std::string> read_file(const std::string& path, std::size_t bytes_max);

/// Bytes of an open descriptor; a failed read is an error, never the end of the input.
class Source {
 public:
  /// `-` is standard input; a leading `@` is dropped. Errors: kIo.
  static Result<Source> open(const std::string& path);
  Source(Source&& other) noexcept;
  Source& operator=(Source&&) = delete;
  ~Source();

  /// Up to `size` bytes; 0 at the end. Waits until there are some. Errors: kIo.
  Result<std::size_t> read(char* buffer, std::size_t size);
  /// Whether read() would return at once, or does within `wait_ms`; a negative number waits for as
  /// long as it takes. A regular file is always ready, and so is an end or a failure.
  bool is_ready(int wait_ms) const;
  const std::string& name() const { return name_; }

 private:
  Source(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  int descriptor_;
  std::string name_;
};

/// Lines of a source. Memory is bounded by kInputBytesMax however long a line is.
class LineReader {
 public:
  enum class Next : unsigned char { kLine, kEnd, kPause };
  /// How long next() waits for a line.
  static constexpr int kForever = -1;

  explicit LineReader(Source source) : source_(std::move(source)) {}

  /// One line without its end (\n or \r\n) into `line`. kPause: no whole line has come within
  /// `wait_ms`; what has come of it is kept for the next call. `too_long`: the line was over the
  /// limit and is empty here; its rest has been passed over.
  /// Errors: kIo; kInvalidRequest when the rest does not end within kSkippedBytesMax.
  Result<Next> next(std::string& line, bool& too_long, int wait_ms);

 private:
  bool take_from_buffer();
  void hand_out(std::string& line, bool& too_long);

  Source source_;
  std::string buffer_;
  std::size_t at_ = 0;
  // The line that is being read.
  std::string line_;
  std::size_t line_bytes_ = 0;
  bool too_long_ = false;
};

/// Bytes of one over-long line that are passed over before the input is given up.
inline constexpr std::size_t kSkippedBytesMax = std::size_t{1} << 30;

}  // namespace layard::cli
