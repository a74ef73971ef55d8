#include "runtime/packed_files.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/sha256.h"
#include "kernels/kernels.h"
#include "support/temp_dir.h"

namespace layard {
namespace {

// A packed file of 1,000 bytes for `code`.
void keep(const std::string& cache_dir, const std::string& code) {
  backends::cpu::PackedCache cache({cache_dir, 1 << 20}, base::discarding_log());
  const auto writer = cache.create(1000);
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  const backends::cpu::PackedKey key{base::sha256_hex("w"), base::sha256_hex("c"), "avx2", code,
                                     "float32"};
  ASSERT_TRUE(cache.commit(**writer, key).ok());
}

TEST(PackedFiles, AnEmptyCacheIsNoError) {
  const testing::TempDir folder;
  Environment environment;
  environment.cache_dir = (folder / "absent").string();
  const auto json = cache_list_json(environment);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(base::parse_json(*json, {})->find("files")->size(), 0U);
  environment.cache_bytes_max = UINT64_MAX;
  EXPECT_EQ(base::parse_json(*cache_list_json(environment), {})->find("bytes_max")->text(),
            "18446744073709551615");
  EXPECT_TRUE(cache_prune_json(environment, 0).ok());
}

TEST(PackedFiles, ListsWhatItHoldsAndWhatIsCurrent) {
  const testing::TempDir folder;
  Environment environment;
  environment.cache_dir = (folder / "cache").string();
  keep(environment.cache_dir, std::string(kernels::isa_code_hash(kernels::Isa::kAvx2)));
  keep(environment.cache_dir, "0000000000000000");
  const auto json = base::parse_json(*cache_list_json(environment), {});
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->find("files")->size(), 2U);
  int current = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const base::JsonValue& file = json->find("files")->items()[i];
    EXPECT_EQ(file.find("isa")->text(), "avx2");
    EXPECT_EQ(file.find("type")->text(), "float32");
    EXPECT_EQ(file.find("weights")->text(), base::sha256_hex("w"));
    if (file.find("current")->as_bool()) ++current;
  }
  EXPECT_EQ(current, 1);
}

TEST(PackedFiles, OneThatNoRunWouldUseIsNotCurrent) {
  const testing::TempDir folder;
  Environment environment;
  environment.cache_dir = (folder / "cache").string();
  keep(environment.cache_dir, std::string(kernels::isa_code_hash(kernels::Isa::kAvx2)));
  const auto current = [&] {
    const auto json = base::parse_json(*cache_list_json(environment), {});
    return json->find("files")->items()[0].find("current")->as_bool();
  };
  EXPECT_TRUE(current());
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache/packed")) {
    std::filesystem::permissions(entry.path(), std::filesystem::perms(0644));
  }
  EXPECT_FALSE(current());
}

TEST(PackedFiles, PruneSaysWhatWent) {
  const testing::TempDir folder;
  Environment environment;
  environment.cache_dir = (folder / "cache").string();
  keep(environment.cache_dir, "0000000000000000");
  const auto json = base::parse_json(*cache_prune_json(environment, 0), {});
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->find("removed")->size(), 1U);
  EXPECT_EQ(json->find("bytes_freed")->text(), "5096");
  EXPECT_EQ(json->find("bytes_left")->text(), "0");
}

// With very many files the output stays small, and says so.
TEST(PackedFiles, ManyAreCountedAndNotAllNamed) {
  backends::cpu::PackedListing listing;
  listing.entries.resize(2);
  backends::cpu::PackedPruning report;
  report.removed = {"a", "b"};
  const auto check = [&](std::uint64_t files, std::optional<std::int64_t> left_out) {
    listing.files = report.files_removed = files;
    const auto listed = runtime::to_json(listing, Environment());
    const auto pruned = runtime::to_json(report);
    for (const auto* value : {listed.find("files_left_out"), pruned.find("removed_left_out")}) {
      EXPECT_EQ(value == nullptr ? std::nullopt : value->as_int64(), left_out) << files;
    }
    EXPECT_EQ(listed.find("files")->size(), 2U);
    EXPECT_EQ(pruned.find("removed")->size(), 2U);
  };
  check(2, std::nullopt);
  check(5, 3);
}

}  // namespace
}  // namespace layard
