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

// A command in a warning can be pasted into a shell.
TEST_F(Loaded, TheParityCommandIsQuoted) {
  const auto spaced = folder_ / "my model's";
  testing::write_tiny_checkpoint(spaced, {});
  testing::write_file(folder_ / "the models.json", R"({"mine": "my model's"})");
  const auto check = [&](const std::string& model, bool mapped, const std::string& command) {
    ModelOptions given = options();
    given.model = model;
    given.dtype = "auto";
    given.environment.cache_dir = (folder_ / "cache").string();
    if (mapped) given.environment.models_file = (folder_ / "the models.json").string();
    log_.clear();
    ASSERT_TRUE(Model::open(given).ok());
    EXPECT_NE(log_.find("make records with: " + command + " --dtype D"), std::string::npos) << log_;
  };
  const std::string folder = folder_.path().string();
  check(spaced.string(), false, "layard parity '" + folder + "/my model'\\''s'");
  check("mine", true, "layard --models '" + folder + "/the models.json' parity mine");
  check(folder, true, "layard parity " + folder);
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

// BERT's positions are a table; ModernBERT has no end.
TEST_F(Loaded, MoreTokensThanPositions) {
  testing::TinyOptions tiny;
  tiny.bert = true;
  tiny.max_len = 512;
  testing::write_tiny_checkpoint(folder_.path(), tiny);
  EXPECT_TRUE(Model::open(options()).ok());
  tiny.max_len = 5000;
  testing::write_tiny_checkpoint(folder_.path(), tiny);
  for (const char* part : {"'max_len' in rl_agent_config.json is 5000",
                           "'max_position_embeddings' in encoder/config.json only 512"}) {
    check_refused(options(), ErrorCode::kUnsupportedModel, part);
  }
  tiny.bert = false;
  tiny.max_len = 10'000;
  testing::write_tiny_checkpoint(folder_.path(), tiny);
  EXPECT_TRUE(Model::open(options()).ok());
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
