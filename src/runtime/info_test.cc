#include "runtime/info.h"

#include "base/json.h"
#include "support/tiny_model.h"

namespace layard::runtime {
namespace {

using Info = testing::TinyModel;

std::vector<std::string> keys(const base::JsonValue& object) {
  std::vector<std::string> out;
  for (const auto& member : object.members()) out.push_back(member.key);
  return out;
}

TEST_F(Info, BlocksInOrder) {
  const auto json = info_json({}, false, "");
  ASSERT_TRUE(json.ok()) << json.error().message;
  const auto root = base::parse_json(*json, {});
  EXPECT_EQ(keys(*root),
            (std::vector<std::string>{"layard", "platform", "platform_validated_for_auto_npu",
                                      "openvino_available", "environment", "models"}));
  EXPECT_EQ(keys(*root->find("models")),
            (std::vector<std::string>{"laya", "laya-multilingual", "laya-typed-decisions"}));
}

TEST_F(Info, OfflineIsEitherWay) {
  const auto effective = [](bool flag, bool environment) {
    Environment given;
    given.hub_offline = environment;
    const auto root = base::parse_json(*info_json(given, flag, ""), {});
    return root->find("environment")->find("offline")->find("effective")->as_bool();
  };
  EXPECT_FALSE(effective(false, false));
  EXPECT_TRUE(effective(true, false));
  EXPECT_TRUE(effective(false, true));
}

TEST_F(Info, UnknownKernelsAreAnError) {
  Environment given;
  given.force_isa = "sse9";
  EXPECT_EQ(info_json(given, false, "").error().code, ErrorCode::kInvalidRequest);
}

TEST_F(Info, OneModelByEitherName) {
  const auto by_name = info_json({}, false, "laya-typed-decisions");
  const auto by_repo = info_json({}, false, "convaiinnovations/laya-typed-decisions");
  ASSERT_TRUE(by_name.ok() && by_repo.ok());
  EXPECT_EQ(*by_name, *by_repo);
  EXPECT_EQ(info_json({}, false, "nope").error().code, ErrorCode::kUnsupportedModel);
  const auto folder = base::parse_json(*info_json({}, false, folder_.path().string()), {});
  EXPECT_EQ(folder->find("models")->members()[0].value.find("max_len")->as_int64(), 128);
}

TEST_F(Info, AutoIsBothCheckpointsAndTheirRouter) {
  const auto root = base::parse_json(*info_json({}, false, " Auto"), {});
  EXPECT_EQ(keys(*root->find("models")), (std::vector<std::string>{"laya", "laya-multilingual"}));
  EXPECT_EQ(write_json(*root->find("router"), base::JsonStyle::kCompact),
            R"({"model":"auto","router":"language","detector":"laya-0.3.20/unicode-16.0",)"
            R"("default_model":"laya"})");
}

TEST_F(Info, DtypeInUseAndDtypeRequested) {
  const auto info = [&](const std::string& dtype, bool lazy) {
    ModelOptions given = options();
    given.dtype = dtype;
    given.lazy = lazy;
    return *base::parse_json((*Model::open(given))->info_json(), {});
  };
  EXPECT_TRUE(info("auto", true).find("dtype")->is_null());
  EXPECT_EQ(info("auto", true).find("dtype_requested")->text(), "auto");
  EXPECT_EQ(info("auto", false).find("dtype")->text(), "float32");
  EXPECT_EQ(info("auto", false).find("dtype_requested")->text(), "auto");
  EXPECT_FALSE(info("auto", false).find("tie_recheck")->as_bool());
  EXPECT_EQ(info("int8", true).find("dtype")->text(), "int8");
  EXPECT_TRUE(info("int8", false).find("tie_recheck")->as_bool());
}

TEST_F(Info, OpenedModelSaysWhatItRunsOn) {
  const auto root = base::parse_json(open()->info_json(), {});
  EXPECT_EQ(root->find("dtype")->text(), "float32");
  EXPECT_FALSE(root->find("isa")->text().empty());
  EXPECT_EQ(root->find("auto_npu")->find("unavailable")->text(), "npu_runtime_unavailable");
}

}  // namespace
}  // namespace layard::runtime
