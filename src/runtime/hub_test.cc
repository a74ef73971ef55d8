// Front-door calls about models on disk; the downloads themselves are tested in checkpoint.
#include "support/tiny_model.h"

namespace layard::runtime {
namespace {

using Hub = testing::TinyModel;

TEST_F(Hub, TokenizerOfAFolder) {
  const auto path = tokenizer_path({}, false, folder_.path().string());
  ASSERT_TRUE(path.ok()) << path.error().message;
  EXPECT_EQ(*path, (folder_ / "tokenizer/tokenizer.json").string());
  EXPECT_EQ(tokenizer_path({}, false, "nope").error().code, ErrorCode::kUnsupportedModel);
}

TEST_F(Hub, DownloadSaysWhyItDoesNotStart) {
  const auto check = [](const std::string& model, ErrorCode code) {
    const auto report = download_model({}, true, model, {});
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code, code) << report.error().message;
  };
  check(folder_.path().string(), ErrorCode::kInvalidRequest);
  check("nope", ErrorCode::kUnsupportedModel);
  check("laya", ErrorCode::kBackendUnavailable);
}

}  // namespace
}  // namespace layard::runtime
