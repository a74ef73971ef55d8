#include "tokenizer/unicode/normal_forms.h"

#include <gtest/gtest.h>

#include <ctime>

namespace layard::tokenizer {
namespace {

std::string form(NormalForm which, std::string_view text) {
  std::string out = "|";
  append_normal_form(which, text, out);
  return out.substr(1);
}

TEST(NormalForms, EqualThePackage) {
  struct Row {
    const char* text;
    const char* nfc;
    const char* nfd;
    const char* nfkc;
    const char* nfkd;
  };
  const Row rows[] = {
      {"", "", "", "", ""},
      {"plain", "plain", "plain", "plain", "plain"},
      {"e\u0301", "\u00e9", "e\u0301", "\u00e9", "e\u0301"},
      {"\u00e9", "\u00e9", "e\u0301", "\u00e9", "e\u0301"},
      {"\u212b", "\u00c5", "A\u030a", "\u00c5", "A\u030a"},
      {"\ufb01\uff21", "\ufb01\uff21", "\ufb01\uff21", "fiA", "fiA"},
      {"q\u0307\u0323", "q\u0323\u0307", "q\u0323\u0307", "q\u0323\u0307", "q\u0323\u0307"},
      {"s\u0323\u0307", "\u1e69", "s\u0323\u0307", "\u1e69", "s\u0323\u0307"},
      {"\u1e9b\u0323", "\u1e9b\u0323", "\u017f\u0323\u0307", "\u1e69", "s\u0323\u0307"},
      {"\u1100\u1161\u11a8", "\uac01", "\u1100\u1161\u11a8", "\uac01", "\u1100\u1161\u11a8"},
      {"\uac00\u11a8", "\uac01", "\u1100\u1161\u11a8", "\uac01", "\u1100\u1161\u11a8"},
      {"\uac00\u11a7", "\uac00\u11a7", "\u1100\u1161\u11a7", "\uac00\u11a7", "\u1100\u1161\u11a7"},
      {"\u0344", "\u0308\u0301", "\u0308\u0301", "\u0308\u0301", "\u0308\u0301"},
      {"\u0958", "\u0915\u093c", "\u0915\u093c", "\u0915\u093c", "\u0915\u093c"},
      // Younger than Unicode 9: nothing happens, and no mark passes it.
      {"\U00011935\U00011930", "\U00011935\U00011930", "\U00011935\U00011930",
       "\U00011935\U00011930", "\U00011935\U00011930"},
      {"a\u07fd\u0301", "a\u07fd\u0301", "a\u07fd\u0301", "a\u07fd\u0301", "a\u07fd\u0301"},
      {"\u32ff", "\u32ff", "\u32ff", "\u32ff", "\u32ff"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(form(NormalForm::kNfc, row.text), row.nfc) << row.text;
    EXPECT_EQ(form(NormalForm::kNfd, row.text), row.nfd) << row.text;
    EXPECT_EQ(form(NormalForm::kNfkc, row.text), row.nfkc) << row.text;
    EXPECT_EQ(form(NormalForm::kNfkd, row.text), row.nfkd) << row.text;
  }
}

// A run of marks in the worst order: sorting must not be quadratic.
TEST(NormalForms, SortsLongRunsOfMarksQuickly) {
  constexpr int kMarks = 200000;
  std::string text = "a";
  for (int i = 0; i < kMarks; ++i) text += i < kMarks / 2 ? "\u0301" : "\u0323";
  const std::clock_t before = std::clock();
  const std::string sorted = form(NormalForm::kNfd, text);
  const double cpu_s = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  EXPECT_EQ(sorted.substr(1, 2), "\u0323");
  EXPECT_EQ(sorted.size(), text.size());
  EXPECT_LT(cpu_s, 5.0);  // exchanging neighbours would take 10^10 steps
}

}  // namespace
}  // namespace layard::tokenizer
