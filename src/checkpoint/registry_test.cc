#include "checkpoint/registry.h"

#include <gtest/gtest.h>

#include <functional>

namespace layard::checkpoint {
namespace {

void check_name(std::string_view name, std::string_view expected) {
  const ModelSpec* spec = find_spec(name);
  EXPECT_EQ(spec == nullptr ? "" : spec->name, expected) << name;
}

TEST(Registry, NamesAliasesAndRepositories) {
  for (const char* name :
       {"laya", "english", "en", "default", " LAYA\n", "convaiinnovations/laya"}) {
    check_name(name, "laya");
  }
  for (const char* name : {"laya-multilingual", "multilingual", "multi", "ML",
                           "convaiinnovations/laya-multilingual"}) {
    check_name(name, "laya-multilingual");
  }
  for (const char* name :
       {"laya-typed-decisions", "typed-decisions", "typed", "typed_decisions", "decisions",
        "Laya-Typed-Decisions", "convaiinnovations/laya-typed-decisions"}) {
    check_name(name, "laya-typed-decisions");
  }
  // Repository ids are exact.
  for (const char* name : {"", "nope", "layaa", "ConvaiInnovations/laya", "other/laya", "starter",
                           " convaiinnovations/laya", "auto"}) {
    check_name(name, "");
  }
}

TEST(Registry, EverySpecIsUsableAndPinned) {
  ASSERT_EQ(registry().size(), 3U);
  for (const ModelSpec& spec : registry()) {
    EXPECT_TRUE(check_spec(spec).ok()) << spec.name;
    EXPECT_EQ(spec.weights().path, "model.safetensors");
    EXPECT_TRUE(spec.weights().bytes.has_value());
    EXPECT_EQ(spec.weights().sha256.size(), 64U);
    EXPECT_EQ(spec.files.size(), 5U);
    EXPECT_EQ(spec.auto_npu_buckets, (std::vector<std::int64_t>{64, 96, 128}));
    EXPECT_NE(known_names().find(spec.repo), std::string::npos);
  }
  EXPECT_EQ(find_spec("laya")->revision, "c5d78730f3493e4fe16d61507ef4b78eef7318cf");
  EXPECT_EQ(find_spec("laya")->max_len, 512);
  EXPECT_EQ(*find_spec("typed")->weights().bytes, 842609220U);
  EXPECT_EQ(find_spec("multi")->npu_buckets, (std::vector<std::int64_t>{64, 96, 128, 256}));
}

void check_refused(const std::function<void(ModelSpec&)>& change, const std::string& needle) {
  ModelSpec spec = registry()[0];
  change(spec);
  const Status status = check_spec(spec);
  ASSERT_FALSE(status.ok()) << needle;
  EXPECT_EQ(status.error().code, ErrorCode::kUnsupportedModel);
  EXPECT_NE(status.error().message.find(needle), std::string::npos) << status.error().message;
}

TEST(Registry, SpecsThatCouldLeadElsewhere) {
  for (const char* repo : {"", "name", "/name", "org/", "../x", "org/..", "a/b/c", "org/na me",
                           "org/n?x", "org/na\\me", ".org/name", "org/%2e%2e"}) {
    check_refused([&](ModelSpec& spec) { spec.repo = repo; }, "repository");
  }
  for (const char* revision :
       {"", "main", "C5D78730F3493E4FE16D61507EF4B78EEF7318CF",
        "c5d78730f3493e4fe16d61507ef4b78eef7318c", "../730f3493e4fe16d61507ef4b78eef7318cfc5d78"}) {
    check_refused([&](ModelSpec& spec) { spec.revision = revision; }, "revision");
  }
  for (const char* path : {"", "/etc/passwd", "../x", "a/../b", "a//b", ".hidden", "a/b/c/d/e"}) {
    check_refused([&](ModelSpec& spec) { spec.files[0].path = path; }, "plain relative path");
  }
  check_refused([](ModelSpec& spec) { spec.files.back().sha256 = "../x"; }, "hash");
  check_refused([](ModelSpec& spec) { spec.files.clear(); }, "model.safetensors");
  check_refused([](ModelSpec& spec) { spec.files.pop_back(); }, "model.safetensors");
}

TEST(Registry, NormalizedName) {
  EXPECT_EQ(normalized_name("  Ab-C \t\n"), "ab-c");
  EXPECT_EQ(normalized_name(" \n"), "");
}

}  // namespace
}  // namespace layard::checkpoint
