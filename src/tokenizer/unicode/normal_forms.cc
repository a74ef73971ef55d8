#include "tokenizer/unicode/normal_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/unicode/char_classes.h"

namespace layard::tokenizer {
namespace {

// The longest full decomposition (U+FDFA) has 18 code points.
constexpr utf8proc_ssize_t kDecompositionMax = 32;

// What one form asks of a code point before anything is decomposed.
struct FormRule {
  bool composes;
  std::uint16_t decomposes;  // class bit that says a decomposition applies
  utf8proc_option_t options;
};

FormRule rule_of(NormalForm form) {
  constexpr auto kCanonicalOption =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  constexpr auto kCompatOption =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  switch (form) {
    case NormalForm::kNfc:
      return {true, kCanonical, kCanonicalOption};
    case NormalForm::kNfd:
      return {false, kCanonical, kCanonicalOption};
    case NormalForm::kNfkc:
      return {true, kCompatible, kCompatOption};
    default:
      return {false, kCompatible, kCompatOption};
  }
}

// Collects code points between two places nothing can cross and writes them in normal form.
class Segment {
 public:
  Segment(const FormRule& rule, const CharClasses& classes) : rule_(rule), classes_(classes) {}

  void add(char32_t code_point, std::uint16_t bits) {
    // Only code points that the package decomposes are looked up: younger ones stay as they are.
    if ((bits & rule_.decomposes) == 0) {
      points_.push_back(static_cast<utf8proc_int32_t>(code_point));
      return;
    }
    utf8proc_int32_t parts[kDecompositionMax];
    int boundary = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code_point), parts, kDecompositionMax,
                                rule_.options, &boundary);
    if (count > 0 && count <= kDecompositionMax)
      points_.insert(points_.end(), parts, parts + count);
  }

  void flush(std::string& out) {
    if (points_.empty()) return;
    sort_marks();
    auto count = static_cast<utf8proc_ssize_t>(points_.size());
    if (rule_.composes && count > 1) {
      count = utf8proc_normalize_utf32(
          points_.data(), count,
          static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    }
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      base::append_utf8(out, static_cast<char32_t>(points_[static_cast<std::size_t>(i)]));
    }
    points_.clear();
  }

 private:
  // Stable sort of every run of non-starters by combining class. utf8proc would do it with
  // exchanges of neighbours, quadratic in the length of a run.
  void sort_marks() {
    const auto is_mark = [this](utf8proc_int32_t c) {
      return (classes_(static_cast<char32_t>(c)) & kNonStarter) != 0;
    };
    const auto order = [](utf8proc_int32_t a, utf8proc_int32_t b) {
      return utf8proc_get_property(a)->combining_class < utf8proc_get_property(b)->combining_class;
    };
    auto begin = points_.begin();
    while ((begin = std::find_if(begin, points_.end(), is_mark)) != points_.end()) {
      const auto end = std::find_if_not(begin, points_.end(), is_mark);
      if (end - begin > 1) std::stable_sort(begin, end, order);
      begin = end;
    }
  }

  const FormRule rule_;
  const CharClasses& classes_;
  std::vector<utf8proc_int32_t> points_;
};

// Whether nothing before `bits`'s code point can join or move past it, and it stays as it is.
bool is_inert(const FormRule& rule, std::uint16_t bits) {
  if (!rule.composes) return (bits & (rule.decomposes | kNonStarter)) == 0;
  // What NFC composes again counts as decomposing for NFKC: its parts may have other forms.
  return (bits & kNfcInert) != 0 && (rule.decomposes == kCanonical || (bits & kCompatible) == 0);
}

}  // namespace

void append_normal_form(NormalForm form, std::string_view text, std::string& out) {
  const CharClasses& classes = CharClasses::get();
  const FormRule rule = rule_of(form);
  Segment segment(rule, classes);
  std::size_t copied = 0;  // text[0, copied) is in `out`
  std::size_t last = 0;    // start of the inert character before `i`, if any lies in [copied, i)
  std::size_t i = 0;
  while (i < text.size()) {
    const Utf8Char c = next_char(text, i);
    if (is_inert(rule, classes(c.code_point))) {
      last = i;
      i += c.bytes;
      continue;
    }
    // The inert character before may compose with what follows: it opens the segment.
    const std::size_t open = last >= copied && last < i ? last : i;
    out.append(text.substr(copied, open - copied));
    if (open < i) {
      const Utf8Char first = next_char(text, open);
      segment.add(first.code_point, classes(first.code_point));
    }
    while (i < text.size()) {
      const Utf8Char next = next_char(text, i);
      const std::uint16_t bits = classes(next.code_point);
      if (is_inert(rule, bits)) break;
      segment.add(next.code_point, bits);
      i += next.bytes;
    }
    segment.flush(out);
    copied = i;
    last = i;
  }
  out.append(text.substr(copied));
}

}  // namespace layard::tokenizer
