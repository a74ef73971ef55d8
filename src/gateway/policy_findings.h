/// What is wrong with a policy file, each fault with its place: collected, so that one look at a
/// file tells all of them.
///
/// Thread-safety: values are plain; the functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace layard::gateway {

/// As an editor counts: lines end with \n, columns are characters, both start at 1; 0: not known.
struct PolicyPlace {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// The places of a value and of all that is in it, in the shape of the value: one child for each
/// member or element, in their order.
struct PlaceTree {
  PolicyPlace name;  ///< of a member
  PolicyPlace value;
  std::vector<PlaceTree> children = {};
};

/// A value of a policy file together with where it stands. Ownership: a view; the text it is of
/// outlives it.
struct PolicyNode {
  const base::JsonValue* value = nullptr;  ///< null: there is none
  const PlaceTree* places = nullptr;       ///< null: not known
  std::string pointer;                     ///< JSON pointer, long names cut
  std::string name;                        ///< the last step of the pointer

  bool present() const { return value != nullptr; }
  /// A member by name; absent where this is no object or has no such member.
  PolicyNode member(std::string_view key) const;
  /// REQUIRES: index < value->size().
  PolicyNode child(std::size_t index) const;
};

enum class PolicySeverity : std::uint8_t { kError, kWarning };

enum class PolicyFaultKind : std::uint8_t {
  kSyntax,     ///< no JSON and no YAML
  kStructure,  ///< what docs/policy.schema.json refuses too
  kMeaning,    ///< what only a reader of the whole file can see
};

struct PolicyFinding {
  PolicySeverity severity = PolicySeverity::kError;
  PolicyFaultKind kind = PolicyFaultKind::kStructure;
  std::string pointer;
  PolicyPlace place;
  std::string what;   ///< a sentence without its full stop
  std::string found;  ///< what stands there, cut; may be empty
  std::string fix;    ///< what to do; may be empty

  /// `WHAT, found FOUND; FIX (POINTER)`.
  std::string sentence() const;
};

/// Findings in the order they were made, at most kMax errors and as many warnings; the others are
/// counted.
class PolicyFindings {
 public:
  static constexpr std::size_t kMax = 200;

  void add(PolicyFinding finding);
  /// At the value of `node`, with what stands there as `found` where it is present.
  void error(PolicyFaultKind kind, const PolicyNode& node, std::string what, std::string fix);
  void warning(const PolicyNode& node, std::string what, std::string fix);
  /// The same at the name of a member.
  void error_at_name(PolicyFaultKind kind, const PolicyNode& node, std::string what,
                     std::string fix);
  void warning_at_name(const PolicyNode& node, std::string what, std::string fix);

  /// By line and column, those without a place first.
  std::vector<PolicyFinding> sorted() const;
  const std::vector<PolicyFinding>& all() const { return findings_; }
  std::size_t errors() const { return errors_; }
  std::size_t warnings() const { return warnings_; }

 private:
  std::vector<PolicyFinding> findings_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

/// `value` as compact JSON, cut to some 60 bytes between two characters.
std::string shown_value(const base::JsonValue& value);

/// `text` as a JSON string, cut in the same way.
std::string shown_text(std::string_view text);

/// Follows a text from offset to offset and tells the place of each. Offsets must not fall.
/// Bounds: linear in the text, whatever the number of questions.
class PlaceCounter {
 public:
  explicit PlaceCounter(std::string_view text) : text_(text) {}
  PolicyPlace at(std::size_t offset);

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  PolicyPlace place_{1, 1};
};

}  // namespace layard::gateway
