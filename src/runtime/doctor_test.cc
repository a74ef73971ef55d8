#include "layard/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard {
namespace {

class Doctor : public ::testing::Test {
 protected:
  Doctor() {
    environment_.cache_dir = (folder_ / "cache").string();
    environment_.hub_cache_dir = (folder_ / "hub").string();
    environment_.threads = 1;
  }

  Finding find(const std::string& name, bool local_files_only = false) {
    const std::vector<Finding> findings = examine(environment_, local_files_only);
    const auto found = std::ranges::find(findings, name, &Finding::name);
    EXPECT_NE(found, findings.end()) << name;
    return *found;
  }

  void check(const std::string& name, Finding::State state, const std::string& found,
             const std::string& remedy) {
    const Finding finding = find(name);
    EXPECT_EQ(finding.state, state) << name << ": " << finding.found;
    EXPECT_NE(finding.found.find(found), std::string::npos) << finding.found;
    EXPECT_NE(finding.remedy.find(remedy), std::string::npos) << finding.remedy;
    EXPECT_EQ(finding.remedy.empty(), state == Finding::State::kOk) << finding.remedy;
  }

  // Loading it is most of what an examination takes.
  void with_starter() { environment_.data_dirs = {std::string(LAYARD_SOURCE_DIR) + "/models"}; }

  testing::TempDir folder_;
  Environment environment_;
};

using Level = Finding::State;

TEST_F(Doctor, AHealthyMachine) {
  with_starter();
  std::vector<std::string> names;
  for (const Finding& finding : examine(environment_, false)) {
    names.push_back(finding.name);
    EXPECT_NE(finding.state, Level::kFailed) << finding.name << ": " << finding.found;
    EXPECT_EQ(finding.found.find('\n'), std::string::npos) << finding.found;
    EXPECT_EQ(finding.remedy.empty(), finding.state == Level::kOk) << finding.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"processor", "kernels", "threads", "memory", "cache",
                                             "checkpoints", "network", "devices", "starter"}));
  check("starter", Level::kOk, "answers as recorded", "");
  check("checkpoints", Level::kOk, "here: starter; not here: laya", "");
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache")) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".doctor")) << entry.path();
  }
}

TEST_F(Doctor, Kernels) {
  environment_.force_isa = "scalar";
  EXPECT_NE(find("kernels").found.find("scalar: forced"), std::string::npos);
  environment_.force_isa = "riscv";
  check("kernels", Level::kFailed, "riscv", "unset LAYARD_FORCE_ISA");
}

TEST_F(Doctor, MoreThreadsThanProcessors) {
  environment_.threads = 1000;
  check("threads", Level::kWarning, "1000 in use", "LAYARD_THREADS");
}

TEST_F(Doctor, CachesThatCannotBeUsed) {
  environment_.cache_dir.clear();
  check("cache", Level::kWarning, "no folder", "LAYARD_CACHE");
  testing::write_file(folder_ / "file", "");
  environment_.cache_dir = (folder_ / "file").string();
  check("cache", Level::kWarning, "file", "LAYARD_CACHE");
  environment_.cache_dir = (folder_ / "open").string();
  std::filesystem::create_directories(folder_ / "open/packed");
  std::filesystem::permissions(folder_ / "open/packed", std::filesystem::perms::all);
  check("cache", Level::kWarning, "packed", "chmod 700");
  environment_.cache_dir = (folder_ / "none").string();
  environment_.cache_bytes_max = 0;
  check("cache", Level::kWarning, "LAYARD_CACHE_MAX is 0", "unset LAYARD_CACHE_MAX");
}

TEST_F(Doctor, Checkpoints) {
  with_starter();
  testing::write_file(folder_ / "models.json", R"({"mine": "nowhere"})");
  environment_.models_file = (folder_ / "models.json").string();
  check("checkpoints", Level::kFailed, "mine", "mend or remove");
  testing::write_file(folder_ / "models.json", "[");
  check("checkpoints", Level::kFailed, "models.json", "mend the models file");
}

TEST_F(Doctor, Network) {
  with_starter();
  EXPECT_NE(find("network").found.find("not tried"), std::string::npos);
  EXPECT_EQ(find("network", true).found, "off, by --offline");
  environment_.hub_offline = true;
  EXPECT_NE(find("network").found.find("HF_HUB_OFFLINE"), std::string::npos);
  EXPECT_NE(find("checkpoints").found.find("the network is off"), std::string::npos);
}

TEST_F(Doctor, NoStarter) {
  environment_.data_dirs = {folder_.path().string()};
  check("starter", Level::kFailed, "starter", "install");
}

TEST_F(Doctor, PrintsTheWorst) {
  const auto status = [](const std::vector<Finding>& findings) {
    return std::string(base::parse_json(print_findings(findings), {})->find("status")->text());
  };
  const Finding good{"a", Level::kOk, "fine", ""};
  const Finding odd{"b", Level::kWarning, "odd", "look"};
  const Finding bad{"c", Level::kFailed, "bad", "mend"};
  EXPECT_EQ(status({good}), "ok");
  EXPECT_EQ(status({odd, good}), "warning");
  EXPECT_EQ(status({odd, bad, good}), "failed");
  EXPECT_EQ(
      print_findings({odd}),
      "{\n \"status\": \"warning\",\n \"findings\": [\n  {\n   \"name\": \"b\",\n   "
      "\"status\": \"warning\",\n   \"found\": \"odd\",\n   \"remedy\": \"look\"\n  }\n ]\n}");
}

}  // namespace
}  // namespace layard
