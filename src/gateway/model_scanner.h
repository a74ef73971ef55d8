/// Finds the string values of `model` in a JSON text that arrives in pieces.
///
/// Invariants: one pass, no memory that grows with the input, any depth of nesting.
/// Thread-safety: one caller at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace layard::gateway {

/// Where a `model` counts.
enum class ModelPlaces : std::uint8_t {
  kTop,    ///< a member of the text's object
  kReply,  ///< that, and a member of its object `message` or `response`
};

/// Names compare after their escapes are undone; of members that stand twice each is found. A text
/// that is no object, and what follows the place where a text stops being JSON, has no values; not
/// every such place is noticed.
class ModelScanner {
 public:
  enum class Found : std::uint8_t {
    kNothing,  ///< all bytes were read
    kBegin,    ///< the last byte read is a value's opening quote
    kEnd,      ///< the last byte read is its closing quote
  };
  struct Step {
    std::size_t bytes = 0;  ///< read by this step
    Found found = Found::kNothing;
  };

  explicit ModelScanner(ModelPlaces places) : places_(places) {}

  /// Reads `bytes` up to the next find. Call again with what is left until kNothing.
  Step scan(std::string_view bytes);
  /// A new text begins.
  void restart();
  /// Whether the next byte belongs to a value that was begun.
  bool in_model() const noexcept { return state_ == State::kModel; }
  /// Whether an object was begun that is not complete.
  bool is_open() const noexcept;
  /// Whether the next byte is within a string.
  bool in_string() const noexcept;

 private:
  enum class State : std::uint8_t {
    kStart,       // before the text's first byte that is no white space
    kName,        // in an object: a name or the object's end
    kInName,      // within a name
    kColon,       // after a name
    kValue,       // after the colon
    kModel,       // within a value that is looked for
    kText,        // within another string
    kAfter,       // after a value's begin: the rest of a scalar, a comma, the object's end
    kNested,      // within containers that are passed over
    kNestedText,  // within a string there
    kDone,
  };

  Found read_byte(char byte);
  void read_name(char byte);
  void add_to_name(char byte);
  Found begin_value(char byte);
  void end_object();
  void read_nested(char byte);
  std::size_t plain_bytes(std::string_view bytes) const;

  ModelPlaces places_;
  State state_ = State::kStart;
  bool in_child_ = false;       // within `message` or `response`
  bool escaped_ = false;        // the byte before was an escape's backslash
  std::uint64_t nested_ = 0;    // open containers that are passed over
  std::array<char, 8> name_{};  // the longest name looked for is `response`
  std::size_t name_bytes_ = 0;  // over the array's size: another name
  int hex_left_ = 0;            // digits of a \u escape still to come
  std::uint32_t hex_ = 0;
  std::size_t mark_bytes_ = 0;  // of a byte-order mark
};

}  // namespace layard::gateway
