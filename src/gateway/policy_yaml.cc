#include "gateway/policy_yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// How a plain scalar reads.
enum class Plain : std::uint8_t { kText, kInteger, kReal, kAmbiguous };

// Digits from `at` on; returns how many.
std::size_t digits(std::string_view word, std::size_t& at) {
  const std::size_t first = at;
  while (at < word.size() && is_digit(word[at])) ++at;
  return at - first;
}

// 0x1F, 0o17, 0b1, .inf, -.inf, .nan: numbers to some readers.
bool is_other_number(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  if (is_one_of(word, {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"})) return true;
  if (word.size() < 3 || word[0] != '0' || !is_one_of(word.substr(1, 1), {"x", "o", "b"})) {
    return false;
  }
  return word.find_first_not_of("0123456789abcdefABCDEF_", 2) == std::string_view::npos;
}

Plain read_plain(std::string_view word) {
  if (is_other_number(word)) return Plain::kAmbiguous;
  std::size_t at = word.starts_with('-') || word.starts_with('+') ? 1 : 0;
  const bool plus = word.starts_with('+');
  const std::size_t first = at;
  const std::size_t whole = digits(word, at);
  bool real = false;
  std::size_t fraction = 0;
  if (at < word.size() && word[at] == '.') {
    ++at;
    real = true;
    fraction = digits(word, at);
  }
  if (whole + fraction == 0) return Plain::kText;
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    real = true;
    if (at < word.size() && (word[at] == '-' || word[at] == '+')) ++at;
    if (digits(word, at) == 0) return Plain::kText;
  }
  if (at != word.size()) {
    // 1_000 and 12:30 are numbers to readers of YAML 1.1.
    const bool old = word.find_first_not_of("0123456789_:.", first) == std::string_view::npos;
    return old && whole > 0 && word.find_first_of("_:", at) == at ? Plain::kAmbiguous
                                                                  : Plain::kText;
  }
  const bool padded = whole > 1 && word[first] == '0';
  const bool bare_point = real && (whole == 0 || (word.find('.') != word.npos && fraction == 0));
  if (plus || padded || bare_point) return Plain::kAmbiguous;
  return real ? Plain::kReal : Plain::kInteger;
}

// Builds values from the parser's events. After the first fault it listens no more: the text is
// bounded, so the parser may read on to its end.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(std::string_view text) : text_(text), counter_(text) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!accept(mark, "?", anchor)) return;
    if (wants_name()) {
      fail(mark, "a name is null or missing", "put the name in quotes");
      return;
    }
    add(JsonValue::null(), mark);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark, "an alias (*name) is not taken here", "write the value out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!accept(mark, tag, anchor)) return;
    if (!is_closed(mark)) {
      fail(mark, "a quote is never closed", "close it");
    } else if (!base::is_valid_utf8(value)) {
      fail(mark, "a text has an escape that is no character", "write the character itself");
    } else if (wants_name()) {
      name(mark, value);
    } else if (tag == "?") {
      plain(mark, value);
    } else {
      add(JsonValue::string(value), mark);
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, JsonValue::array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, JsonValue::object());
  }
  void OnMapEnd() override { close(); }

  void fail(const YAML::Mark& mark, std::string what, std::string fix) {
    if (failed_) return;
    failed_ = true;
    fault_.kind = PolicyFaultKind::kSyntax;
    // Of the value that was to come next, or of the map whose member has no name yet.
    fault_.pointer = wants_name() ? open_.back().pointer : child_pointer();
    // Counted anew: the parser may point back to before what it has told of.
    if (mark.pos >= 0) fault_.place = PlaceCounter(text_).at(static_cast<std::size_t>(mark.pos));
    fault_.what = "not a policy's YAML: " + std::move(what);
    fault_.fix = std::move(fix);
  }

  bool failed() const { return failed_; }
  const PolicyFinding& fault() const { return fault_; }
  PolicyText take() { return {std::move(root_), std::move(places_), {}}; }

 private:
  struct Open {
    JsonValue value;
    PlaceTree places;
    std::string pointer;
    std::string name;  // of the member whose value comes next
    PolicyPlace name_place;
    bool has_name = false;
    std::unordered_map<std::string, std::size_t> names = {};
  };

  bool wants_name() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().has_name;
  }

  // The parser's marks count bytes; a mark behind the last one costs only the bytes between.
  PolicyPlace place(const YAML::Mark& mark) {
    if (mark.is_null() || mark.pos < 0) return {};
    return counter_.at(static_cast<std::size_t>(mark.pos));
  }

  // Whether the quoted text that begins here, if one does, ends before the file: the parser takes
  // one that does not.
  bool is_closed(const YAML::Mark& mark) const {
    const std::size_t begin = mark.pos < 0 ? text_.size() : static_cast<std::size_t>(mark.pos);
    if (begin >= text_.size()) return true;
    const char quote = text_[begin];
    if (quote != '"' && quote != '\'') return true;
    for (std::size_t i = begin + 1; i < text_.size(); ++i) {
      if (quote == '"' && text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        const bool doubled = quote == '\'' && i + 1 < text_.size() && text_[i + 1] == quote;
        if (!doubled) return true;
        ++i;
      }
    }
    return false;
  }

  bool accept(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (failed_) return false;
    if (anchor != YAML::NullAnchor) {
      fail(mark, "an anchor (&name) is not taken here", "write the value out where it is used");
    } else if (!tag.empty() && tag != "?" && tag != "!") {
      fail(mark, "a tag (!name) is not taken here", "remove it; a text stands in quotes");
    } else if (++nodes_ > kPolicyNodesMax) {
      fail(mark, "more than " + std::to_string(kPolicyNodesMax) + " values", "make it smaller");
    }
    return !failed_;
  }

  void name(const YAML::Mark& mark, const std::string& value) {
    Open& parent = open_.back();
    if (value == "<<") {
      fail(mark, "a merge key (<<) is not taken here", "write the members out");
    } else if (!parent.names.emplace(value, parent.names.size()).second) {
      fail(mark, "the name " + shown_text(value) + " stands here again", "keep one of them");
    } else if (parent.names.size() > kPolicyMembersMax) {
      fail(mark, "more than " + std::to_string(kPolicyMembersMax) + " members", "make it smaller");
    }
    parent.name = value;
    parent.name_place = place(mark);
    parent.has_name = true;
  }

  void plain(const YAML::Mark& mark, const std::string& word) {
    if (is_one_of(word, {"true", "True", "TRUE"})) return add(JsonValue::boolean(true), mark);
    if (is_one_of(word, {"false", "False", "FALSE"})) return add(JsonValue::boolean(false), mark);
    switch (read_plain(word)) {
      case Plain::kInteger:
        return add(JsonValue::integer_text(word), mark);
      case Plain::kReal:
        return add(JsonValue::real_text(word), mark);
      case Plain::kAmbiguous:
        return fail(mark, "some readers of YAML take " + shown_text(word) + " for another number",
                    "write a plain decimal number, or put the text in quotes");
      case Plain::kText:
        return add(JsonValue::string(word), mark);
    }
  }

  std::string child_pointer() const {
    if (open_.empty()) return "";
    const Open& parent = open_.back();
    if (parent.value.is_array()) {
      return parent.pointer + "/" + std::to_string(parent.value.size());
    }
    return PolicyNode{nullptr, nullptr, parent.pointer, {}}.member(parent.name).pointer;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            JsonValue value) {
    if (!accept(mark, tag, anchor)) return;
    if (wants_name()) {
      // The parser also takes a bracket that is never closed for the begin of a name.
      fail(mark, "a list or a map where a name should be, or a bracket that is never closed",
           "a name is a text; close [ and {");
    } else if (open_.size() >= kPolicyDepthMax) {
      fail(mark, "nested deeper than " + std::to_string(kPolicyDepthMax) + " levels",
           "no policy needs that");
    } else {
      std::string pointer = child_pointer();
      open_.push_back({std::move(value), {{}, place(mark)}, std::move(pointer), {}, {}});
    }
  }

  void close() {
    if (failed_ || open_.empty()) return;
    Open done = std::move(open_.back());
    open_.pop_back();
    put(std::move(done.value), std::move(done.places));
  }

  void add(JsonValue value, const YAML::Mark& mark) { put(std::move(value), {{}, place(mark)}); }

  void put(JsonValue value, PlaceTree places) {
    if (open_.empty()) {
      root_ = std::move(value);
      places_ = std::move(places);
      return;
    }
    Open& parent = open_.back();
    if (parent.value.is_array()) {
      parent.value.push_back(std::move(value));
    } else {
      places.name = parent.name_place;
      parent.value.set(parent.name, std::move(value));
      parent.has_name = false;
    }
    parent.places.children.push_back(std::move(places));
  }

  std::string_view text_;
  PlaceCounter counter_;
  std::vector<Open> open_;
  JsonValue root_;
  PlaceTree places_;
  PolicyFinding fault_;
  std::size_t nodes_ = 0;
  bool failed_ = false;
};

// What is no text at all. The parser would take zero bytes for another encoding.
std::optional<PolicyFinding> find_foreign_byte(std::string_view text) {
  PolicyFinding fault;
  fault.kind = PolicyFaultKind::kSyntax;
  if (text.size() > kPolicyBytesMax) {
    fault.what = "a policy of " + std::to_string(text.size()) + " bytes is over the limit of " +
                 std::to_string(kPolicyBytesMax);
    return fault;
  }
  PlaceCounter counter(text);
  for (std::size_t i = 0; i < text.size();) {
    const base::Utf8Step step = base::decode_utf8(text, i);
    const bool ill_formed = step.bytes == 1 && static_cast<unsigned char>(text[i]) >= 0x80;
    const bool control = (step.code_point < 0x20 && step.code_point != '\t' &&
                          step.code_point != '\n' && step.code_point != '\r') ||
                         step.code_point == 0x7F;
    if (ill_formed || control) {
      fault.place = counter.at(i);
      fault.what = ill_formed ? "the file is not UTF-8" : "the file has a control character";
      fault.fix = ill_formed ? "save it as UTF-8" : "remove it";
      return fault;
    }
    i += step.bytes;
  }
  return std::nullopt;
}

// Reads the one document there may be; what the parser throws ends here.
void run(std::string_view text, Builder& builder, bool& found) {
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    found = parser.HandleNextDocument(builder);
    Builder second(text);
    if (found && !builder.failed() && parser.HandleNextDocument(second)) {
      builder.fail(YAML::Mark::null_mark(), "there is a second document", "keep one");
    }
  } catch (const YAML::Exception& error) {
    builder.fail(error.mark, error.msg, "");
  }
}

}  // namespace

std::optional<PolicyText> read_policy_yaml(std::string_view text, PolicyFindings& findings) {
  if (auto fault = find_foreign_byte(text)) {
    findings.add(*std::move(fault));
    return std::nullopt;
  }
  Builder builder(text);
  bool found = false;
  run(text, builder, found);
  if (builder.failed()) {
    findings.add(builder.fault());
    return std::nullopt;
  }
  if (!found) {
    PolicyFinding fault;
    fault.kind = PolicyFaultKind::kSyntax;
    fault.what = "the file is empty";
    fault.fix = "a policy has at least the member \"classes\"";
    findings.add(std::move(fault));
    return std::nullopt;
  }
  return builder.take();
}

}  // namespace layard::gateway
