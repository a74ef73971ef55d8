#include "checkpoint/checkpoint_folder.h"

#include <gtest/gtest.h>

#include "support/ordinary_user.h"
#include "support/shared_dir.h"
#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard::checkpoint {
namespace {

using testing::TempDir;
using testing::TinyOptions;
using testing::write_file;

void check_error(const std::filesystem::path& folder, ErrorCode code, const std::string& needle) {
  SCOPED_TRACE(needle);
  const auto opened = CheckpointFolder::open(folder);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, code) << opened.error().message;
  EXPECT_NE(opened.error().message.find(needle), std::string::npos) << opened.error().message;
}

TEST(CheckpointFolder, OpensBothFamilies) {
  for (const bool bert : {false, true}) {
    const TempDir folder;
    testing::write_tiny_checkpoint(folder.path(), TinyOptions{.bert = bert});
    const auto opened = CheckpointFolder::open(folder.path());
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(opened->config.head_layers, 2);
    EXPECT_EQ(opened->config.act_outputs, 2);
    EXPECT_EQ(opened->encoder_config, testing::tiny_encoder_config(TinyOptions{.bert = bert}));
    EXPECT_EQ(opened->tokenizer_config, testing::tiny_tokenizer_config());
    EXPECT_EQ(opened->files.tokenizer, folder.path() / "tokenizer" / "tokenizer.json");
    EXPECT_NE(opened->weights.find("scorer.3.weight"), nullptr);
    EXPECT_TRUE(opened->weights.check_finite().ok());
  }
}

// Faults are put in from the last condition to the first, so each error hides those before it.
TEST(CheckpointFolder, ConditionsInOrder) {
  const TempDir temp;
  const auto folder = temp / "m";
  const std::string name = "'" + folder.string() + "'";
  check_error(folder, ErrorCode::kIo, "Local model path not found: " + name);

  TinyOptions options;
  testing::write_tiny_checkpoint(folder, options);
  write_file(folder / "rl_agent_config.json",
             R"({"encoder":"x","head_layers":2,"temperature":[1]})");
  check_error(folder, ErrorCode::kUnsupportedModel, name + " temperature must be a list of 3");

  auto weights = testing::tiny_weights(options);
  std::erase_if(weights, [](const auto& entry) { return entry.name.starts_with("act_head."); });
  write_file(folder / "model.safetensors",
             testing::safetensors_bytes(weights, tensor::DType::kFloat16));
  check_error(folder, ErrorCode::kUnsupportedModel,
              "Incompatible model weights for " + name + ": checkpoint is missing 'act_head.'");

  write_file(folder / "rl_agent_config.json", R"({"encoder":"x"})");
  check_error(folder, ErrorCode::kUnsupportedModel, "missing configuration keys ['head_layers']");
  write_file(folder / "rl_agent_config.json", R"({"option_layout":"other"})");
  check_error(folder, ErrorCode::kUnsupportedModel, "option_layout must be one of");
}

TEST(CheckpointFolder, MissingFilesAreNamedTogether) {
  const TempDir temp;
  const auto folder = temp / "m";
  testing::write_tiny_checkpoint(folder, {});
  const std::string start = "Incompatible model: '" + folder.string() + "' does not contain ";
  std::filesystem::remove(folder / "tokenizer" / "tokenizer.json");
  check_error(folder, ErrorCode::kUnsupportedModel, start + "'tokenizer/tokenizer.json'. ");
  std::filesystem::remove_all(folder / "encoder");
  check_error(folder, ErrorCode::kUnsupportedModel,
              start + "'encoder/config.json', 'tokenizer/tokenizer.json'. ");
  std::filesystem::remove_all(folder / "tokenizer");
  std::filesystem::remove(folder / "model.safetensors");
  std::filesystem::create_directory(folder / "model.safetensors");  // a folder is no file
  // Before what is wrong in a file that is there.
  write_file(folder / "rl_agent_config.json", "{");
  check_error(folder, ErrorCode::kUnsupportedModel,
              start +
                  "'model.safetensors', 'encoder/config.json', 'tokenizer/tokenizer.json', "
                  "'tokenizer/tokenizer_config.json'. ");
  std::filesystem::remove(folder / "rl_agent_config.json");
  check_error(folder, ErrorCode::kUnsupportedModel,
              start +
                  "'rl_agent_config.json', 'model.safetensors', 'encoder/config.json', "
                  "'tokenizer/tokenizer.json', 'tokenizer/tokenizer_config.json'. ");
}

TEST(CheckpointFolder, DamagedFiles) {
  const TempDir folder;
  testing::write_tiny_checkpoint(folder.path(), {});
  write_file(folder / "model.safetensors", "short");
  check_error(folder.path(), ErrorCode::kArtifactIntegrity, "model.safetensors");
  write_file(folder / "encoder/config.json", std::string(kEncoderConfigBytesMax + 1, ' '));
  check_error(folder.path(), ErrorCode::kArtifactIntegrity, "config.json");
  write_file(folder / "rl_agent_config.json", "{");
  check_error(folder.path(), ErrorCode::kArtifactIntegrity, "rl_agent_config.json");
}

TEST(CheckpointFolder, TokenizerConfigIsNeverWritten) {
  const TempDir folder;
  testing::write_tiny_checkpoint(folder.path(), {});
  const std::string before =
      R"({"tokenizer_class":"TokenizersBackend","backend":"x","extra_special_tokens":["a"]})";
  write_file(folder / "tokenizer/tokenizer_config.json", before);
  ASSERT_TRUE(CheckpointFolder::open(folder.path()).ok());
  EXPECT_EQ(testing::read_file(folder / "tokenizer/tokenizer_config.json"), before);
}

TEST(CheckpointFolder, WhatIsNoFolderSaysSo) {
  const TempDir folder;
  write_file(folder / "file", "x");
  check_error(folder / "file", ErrorCode::kIo, "'" + (folder / "file").string() + "' is not a fol");
  check_error("/dev/null", ErrorCode::kIo, "'/dev/null' is not a folder");
}

// What may not be looked at is not missing.
TEST(CheckpointFolder, PermissionDeniedIsSaid) {
  const auto check = [](const std::string& locked_folder) {
    const TempDir folder;
    testing::write_tiny_checkpoint(folder / "m", {});
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    const testing::Locked locked(folder / locked_folder);
    const testing::OrdinaryUser user;
    if (!user.is_ordinary()) GTEST_SKIP() << "root cannot become another user here";
    check_error(folder / "m", ErrorCode::kIo, "Permission denied");
    check_error(folder / "m", ErrorCode::kIo, (folder / locked_folder).string());
  };
  check("m");
  check("m/encoder");
  check("m/tokenizer");
}

TEST(CheckpointFolder, SharedCheckpoints) {
  LAYARD_REQUIRE_SHARED(shared);
  for (const char* name : {"english", "multilingual", "typed", "bert"}) {
    SCOPED_TRACE(name);
    const auto opened = CheckpointFolder::open(shared / "goldens" / "checkpoints" / name);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(opened->config.act_outputs, std::string_view(name) == "typed" ? 3 : 2);
    EXPECT_EQ(opened->config.head_layers, 2);
    EXPECT_TRUE(opened->weights.check_finite().ok());
  }
}

}  // namespace
}  // namespace layard::checkpoint
