/// The lines of a stream of server-sent events that arrives in pieces.
///
/// Source: WHATWG HTML, 9.2.6 "Interpreting an event stream" (line ends, names of fields).
/// Invariants: every byte is in exactly one token, at once; no memory that grows.
/// Thread-safety: one caller at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace layard::gateway {

class SseLines {
 public:
  enum class Kind : std::uint8_t {
    kData,       ///< bytes of a `data` field's value, perhaps with the space before it
    kEventName,  ///< bytes of an `event` field's value, likewise
    kErrorText,  ///< of an `error` field, which only llama.cpp had
    kOther,      ///< names of fields, comments, other fields
    kLineEnd,    ///< of a line that is not empty
    kBlankLine,  ///< the end of an empty line: an event is complete
    kHalfEnd,    ///< the LF of a CRLF whose CR was told of
  };
  struct Token {
    Kind kind = Kind::kOther;
    std::size_t bytes = 0;
  };

  /// The token that `bytes` begin with. REQUIRES: not empty. Call again with what is left.
  Token next(std::string_view bytes);

  /// Whether the next byte begins a line.
  bool at_line_start() const noexcept { return part_ == Part::kName && name_bytes_ == 0; }

 private:
  enum class Part : std::uint8_t { kName, kValue };

  Token end_line();
  Token read_name(std::string_view bytes);
  Kind kind_of_name() const;

  Part part_ = Part::kName;
  Kind kind_ = Kind::kOther;  // of the line's value
  bool after_cr_ = false;
  bool first_line_ = true;      // a byte-order mark may stand before it
  std::array<char, 8> name_{};  // of the field, as far as it was read
  std::size_t name_bytes_ = 0;  // over the array's size: another name
};

}  // namespace layard::gateway
