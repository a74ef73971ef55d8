#include "runtime/loaded_model.h"

#include "support/tiny_model.h"

namespace layard::runtime {
namespace {

using Loaded = testing::TinyModel;

TEST_F(Loaded, WarnsOnceAboutTemperatures) {
  testing::write_file(folder_ / "rl_agent_config.json",
                      R"({"encoder":"x","head_layers":2,"max_len":128,"head_max_len":64,)"
                      R"("act_costs":{"act":0},"temperature":[9.0,1.0,"abc"],)"
                      R"("temperature_by_options":{"choice:11+":0.1}})");
  const auto model = open();
  EXPECT_NE(log_.find("choice:11+=0.1 -> 0.5"), std::string::npos) << log_;
  EXPECT_NE(log_.find("temperature[0]=9.0 -> 5,"), std::string::npos) << log_;
  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1);
}

void check_refused(const ModelOptions& options, ErrorCode code, const std::string& part) {
  const auto model = Model::open(options);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, code) << model.error().message;
  EXPECT_NE(model.error().message.find(part), std::string::npos) << model.error().message;
}

TEST_F(Loaded, NonFiniteWeightsAreNamed) {
  auto tensors = testing::tiny_weights({});
  for (auto& tensor : tensors) {
    if (tensor.name == "scorer.1.weight") tensor.values[5] = std::numeric_limits<float>::infinity();
  }
  testing::write_file(folder_ / "model.safetensors",
                      testing::safetensors_bytes(tensors, tensor::DType::kFloat32));
  check_refused(options(), ErrorCode::kArtifactIntegrity, "scorer.1.weight");
}

TEST_F(Loaded, TokenizerLargerThanTheEmbedding) {
  testing::TinyOptions bert;
  bert.bert = true;
  testing::write_file(folder_ / "encoder/config.json", testing::tiny_encoder_config(bert));
  testing::write_file(folder_ / "model.safetensors",
                      testing::safetensors_bytes(testing::tiny_weights(bert), bert.dtype));
  check_refused(options(), ErrorCode::kUnsupportedModel, "272 tokens");
}

TEST_F(Loaded, BrokenFilesNameThemselves) {
  testing::write_file(folder_ / "tokenizer/tokenizer.json", "{");
  check_refused(options(), ErrorCode::kArtifactIntegrity, "tokenizer.json");
  testing::write_file(folder_ / "tokenizer/tokenizer.json", testing::tiny_tokenizer_json(false));
  testing::write_file(folder_ / "encoder/config.json", R"({"model_type":"gpt2"})");
  check_refused(options(), ErrorCode::kUnsupportedModel, "gpt2");
}

TEST_F(Loaded, EveryDtypeAndFamilyLoads) {
  for (const bool bert : {false, true}) {
    for (const auto dtype :
         {tensor::DType::kFloat32, tensor::DType::kFloat16, tensor::DType::kBFloat16}) {
      testing::TinyOptions tiny;
      tiny.bert = bert;
      tiny.dtype = dtype;
      testing::write_tiny_checkpoint(folder_.path(), tiny);
      const auto answer = open()->predict_json("the refund", R"(["Is it?"])", {}, {});
      EXPECT_TRUE(answer.ok()) << tensor::dtype_name(dtype) << answer.error().message;
    }
  }
}

}  // namespace
}  // namespace layard::runtime
