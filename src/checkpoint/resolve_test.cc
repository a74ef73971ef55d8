#include "checkpoint/resolve.h"

#include <gtest/gtest.h>

#include "support/ordinary_user.h"
#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard::checkpoint {
namespace {

using testing::TempDir;
using testing::write_file;

ModelSource resolved(std::string_view model, const ResolveOptions& options) {
  auto source = resolve_model(model, options);
  EXPECT_TRUE(source.ok()) << model << ": " << (source.ok() ? "" : source.error().message);
  return source.ok() ? *std::move(source) : ModelSource{};
}

void check_error(std::string_view model, const ResolveOptions& options, ErrorCode code,
                 const std::string& needle) {
  const auto source = resolve_model(model, options);
  ASSERT_FALSE(source.ok()) << model;
  EXPECT_EQ(source.error().code, code) << source.error().message;
  EXPECT_NE(source.error().message.find(needle), std::string::npos) << source.error().message;
}

TEST(Resolve, RegistryNames) {
  for (const char* name :
       {"laya-typed-decisions", "convaiinnovations/laya-typed-decisions", "typed"}) {
    const ModelSource source = resolved(name, {});
    EXPECT_EQ(source.kind, SourceKind::kRegistry);
    EXPECT_EQ(source.name, "laya-typed-decisions");
    ASSERT_NE(source.spec, nullptr);
    EXPECT_EQ(source.spec->repo, "convaiinnovations/laya-typed-decisions");
    EXPECT_TRUE(source.folder.empty());
    EXPECT_FALSE(source.mapped_away_from_pin);
  }
}

TEST(Resolve, UnknownNamesAreAnsweredWithTheKnown) {
  for (const char* name : {"nope", "", "org/other", "auto", "convaiinnovations/unknown"}) {
    check_error(name, {}, ErrorCode::kUnsupportedModel, "laya-multilingual (convaiinnovations/");
    check_error(name, {}, ErrorCode::kUnsupportedModel, "starter");
  }
}

TEST(Resolve, UnknownNamesAreCompletedAndListed) {
  const TempDir folder;
  write_file(folder / "m.json", R"({"mine":"f","support-desk":"g"})");
  ResolveOptions own;
  own.models_file = folder / "m.json";
  const auto check = [&](std::string_view model, const std::string& meant) {
    check_error(model, own, ErrorCode::kUnsupportedModel,
                "unknown model '" + std::string(model) + "'" +
                    (meant.empty() ? "; choose" : " (did you mean '" + meant + "'?); choose"));
  };
  check("layaa", "laya");
  check("Lyaa", "laya");
  check("typd", "typed");
  check("atuo", "auto");
  check("startr", "starter");
  check("convaiinnovation/laya", "convaiinnovations/laya");
  check("suport-desk", "support-desk");
  check("gpt-4", "");
  for (const char* part :
       {"auto (in predict, render, info and download)", "starter, ",
        "laya (convaiinnovations/laya, english, en, default)", "typed_decisions, decisions)",
        ", mine, support-desk, a name of a models file"}) {
    check_error("nope", own, ErrorCode::kUnsupportedModel, part);
  }
  check_error("auto", own, ErrorCode::kUnsupportedModel, ", mine, support-desk, ");
}

TEST(Resolve, AutoIsNoCheckpoint) {
  for (const char* name : {"auto", "AUTO", " auto "}) {
    check_error(name, {}, ErrorCode::kUnsupportedModel, "'auto' is no checkpoint");
  }
}

TEST(Resolve, Folders) {
  const TempDir folder;
  testing::write_tiny_checkpoint(folder.path(), {});
  const ModelSource source = resolved(folder.path().string(), {});
  EXPECT_EQ(source.kind, SourceKind::kFolder);
  EXPECT_EQ(source.folder, folder.path());
  EXPECT_EQ(source.name, folder.path().string());
  EXPECT_EQ(source.spec, nullptr);
  check_error((folder / "absent").string(), {}, ErrorCode::kIo, "Local model path not found");
  check_error("./absent-folder", {}, ErrorCode::kIo,
              "Local model path not found: './absent-folder'");
}

TEST(Resolve, WhatIsNoFolderSaysSo) {
  const TempDir folder;
  write_file(folder / "file", "x");
  for (const std::string& path : {std::string("/dev/null"), (folder / "file").string()}) {
    check_error(path, {}, ErrorCode::kIo, "'" + path + "' is not a folder");
  }
  check_error((folder / "file/below").string(), {}, ErrorCode::kIo, "path not found");
}

TEST(Resolve, AFolderThatMayNotBeSeenIsNotMissing) {
  const TempDir folder;
  testing::write_tiny_checkpoint(folder / "above/model", {});
  const testing::Locked locked(folder / "above");
  const testing::OrdinaryUser user;
  if (!user.is_ordinary()) GTEST_SKIP() << "root cannot become another user here";
  check_error((folder / "above/model").string(), {}, ErrorCode::kIo, "Permission denied");
}

TEST(Resolve, Starter) {
  const TempDir folder;
  check_error("starter", {}, ErrorCode::kBackendUnavailable, "looked in no folder");
  ResolveOptions options;
  options.starter_search = {folder / "a", folder / "b"};
  check_error("starter", options, ErrorCode::kBackendUnavailable,
              (folder / "b" / "starter").string());
  testing::write_tiny_checkpoint(folder / "b" / "starter", {});
  const ModelSource source = resolved(" Starter", options);
  EXPECT_EQ(source.kind, SourceKind::kStarter);
  EXPECT_EQ(source.folder, folder / "b" / "starter");
}

TEST(Resolve, ModelsFile) {
  const TempDir folder;
  const std::string hash(64, 'a');
  const std::string pin = find_spec("laya")->weights().sha256;
  write_file(
      folder / "m.json",
      R"({"mine":"models/mine","laya-multilingual":{"path":"/abs/multi","sha256":")" + hash +
          R"("},"laya":{"path":"copy","sha256":")" + pin + R"("},"starter":"own-starter",)" +
          R"("tuned":{"repo":"org/tuned","revision":"0123456789abcdef0123456789abcdef01234567",)"
          R"("sha256":")" +
          hash + R"(","bytes":1234}})");
  ResolveOptions options;
  options.models_file = folder / "m.json";
  const ModelSource mine = resolved("MINE", options);
  EXPECT_EQ(mine.kind, SourceKind::kModelsFile);
  EXPECT_EQ(mine.folder, folder / "models/mine");
  EXPECT_EQ(mine.sha256, "");
  EXPECT_FALSE(mine.mapped_away_from_pin);
  // Every way to name a registry model follows its mapping, and it is marked.
  for (const char* name : {"laya-multilingual", "multi", "convaiinnovations/laya-multilingual"}) {
    const ModelSource source = resolved(name, options);
    EXPECT_EQ(source.name, "laya-multilingual");
    EXPECT_EQ(source.folder, "/abs/multi");
    EXPECT_EQ(source.sha256, hash);
    EXPECT_TRUE(source.mapped_away_from_pin);
  }
  // A folder that has to have the pinned weights is not away from the pin.
  EXPECT_FALSE(resolved("laya", options).mapped_away_from_pin);
  EXPECT_EQ(resolved("starter", options).folder, folder / "own-starter");
  EXPECT_TRUE(resolved("starter", options).mapped_away_from_pin);
  EXPECT_EQ(resolved("typed", options).kind, SourceKind::kRegistry);
  const ModelSource tuned = resolved("tuned", options);
  ASSERT_NE(tuned.spec, nullptr);
  EXPECT_EQ(tuned.spec->repo, "org/tuned");
  EXPECT_EQ(tuned.spec->weights().bytes, 1234U);
  EXPECT_EQ(tuned.spec->weights().sha256, hash);
}

TEST(Resolve, ModelsFileMayUseAliases) {
  const TempDir folder;
  ResolveOptions options;
  options.models_file = folder / "m.json";
  write_file(folder / "m.json", R"({"multi":"local"})");
  for (const char* name : {"laya-multilingual", "ml", "convaiinnovations/laya-multilingual"}) {
    const ModelSource source = resolved(name, options);
    EXPECT_EQ(source.name, "laya-multilingual");
    EXPECT_EQ(source.folder, folder / "local");
    EXPECT_TRUE(source.mapped_away_from_pin);
  }
  write_file(folder / "m.json", R"({"multi":"local","laya-multilingual":"other"})");
  check_error("ml", options, ErrorCode::kInvalidRequest, "names 'laya-multilingual' twice");
}

TEST(Resolve, ModelsFileProblems) {
  const TempDir folder;
  ResolveOptions options;
  options.models_file = folder / "m.json";
  check_error("laya", options, ErrorCode::kIo,
              "models file '" + (folder / "m.json").string() + "' cannot be read: ");
  check_error("laya", options, ErrorCode::kIo, "correct --models or LAYARD_MODELS");
  const std::string hash(64, 'a');
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", "not usable"},
      {"[]", "not an object"},
      {R"({"x":)", "not usable"},
      {R"({"Upper":"f"})", "names are lower-case"},
      {R"({"../up":"f"})", "names are lower-case"},
      {R"({"auto":"f"})", "not 'auto'"},
      {R"({"mine":"a","laya":"b","mine":"c"})", "has the name 'mine' twice"},
      {R"({"laya":{"path":"a"},"laya":{"path":"a"}})", "has the name 'laya' twice"},
      {R"({"mine":"a","laya":{"path":"a","path":"b"}})", "has 'path' of 'laya' twice"},
      {R"({"laya":7})", "neither a folder nor an object"},
      {R"({"laya":""})", "no folder name"},
      {R"({"laya":{}})", "either 'path' or 'repo'"},
      {R"({"laya":{"path":"f","repo":"o/r"}})", "either 'path' or 'repo'"},
      {R"({"laya":{"path":5}})", "no folder name"},
      {R"({"laya":{"path":"f","sha256":"xyz"}})", "64 lower-case hex"},
      {R"({"laya":{"path":"f","sha256":1}})", "not a string"},
      {R"({"laya":{"path":"f","sha256":""}})", "64 lower-case hex"},
      {R"({"laya":{"path":"f","sha265":")" + hash + R"("}})",
       "'laya' has the field 'sha265' (did you mean 'sha256'?), which is none of an entry with "
       "'path': path, sha256"},
      {R"({"laya":{"path":"f","revision":"x"}})", "has the field 'revision', which is none"},
      {R"({"laya":{"repo":"o/r","note":1}})", "none of an entry: path, repo, revision, sha256"},
      {R"({"laya":{"Path":"f"}})", "'laya' has the field 'Path' (did you mean 'path'?)"},
      {R"({"laya":{"repo":"o/r","revision":"main","sha256":")" + hash + R"("}})",
       "revision 'main'"},
      {R"({"laya":{"repo":"o/r","revision":"0123456789abcdef0123456789abcdef01234567"}})",
       "needs 'sha256'"},
      {R"({"laya":{"repo":"o/r","revision":"0123456789abcdef0123456789abcdef01234567","sha256":")" +
           hash + R"(","bytes":-1}})",
       "positive number"},
  };
  for (const auto& [text, needle] : rows) {
    SCOPED_TRACE(text);
    write_file(folder / "m.json", text);
    check_error("laya", options, ErrorCode::kInvalidRequest, needle);
    check_error("laya", options, ErrorCode::kInvalidRequest,
                "models file '" + (folder / "m.json").string() + "'");
    check_error("laya", options, ErrorCode::kInvalidRequest, "; correct the file");
  }
}

TEST(Resolve, NamesThatAreKnown) {
  const TempDir folder;
  ResolveOptions options;
  const std::vector<std::string> pinned = {"starter", "laya", "laya-multilingual",
                                           "laya-typed-decisions"};
  EXPECT_EQ(*model_names(options), pinned);
  options.models_file = folder / "m.json";
  write_file(folder / "m.json", R"({"mine":"f","ml":"g","starter":"h","also.mine":"i"})");
  std::vector<std::string> all = pinned;
  all.insert(all.end(), {"mine", "also.mine"});
  EXPECT_EQ(*model_names(options), all);
  write_file(folder / "m.json", "[]");
  EXPECT_EQ(model_names(options).error().code, ErrorCode::kInvalidRequest);
}

}  // namespace
}  // namespace layard::checkpoint
