#include "encoder/config.h"

#include <gtest/gtest.h>

namespace layard::encoder {
namespace {

constexpr const char* kSizes = R"("vocab_size":100,"hidden_size":64,"intermediate_size":96,)"
                               R"("num_hidden_layers":28,"num_attention_heads":4)";

Result<EncoderConfig> parse(const std::string& rest) {
  return EncoderConfig::parse("{" + std::string(kSizes) + "," + rest + "}", "config.json");
}

void check_refused(const std::string& rest, ErrorCode code, const std::string& part) {
  const auto config = parse(rest);
  ASSERT_FALSE(config.ok()) << rest;
  EXPECT_EQ(config.error().code, code) << rest;
  EXPECT_NE(config.error().message.find(part), std::string::npos) << config.error().message;
}

void check_same_pattern(const EncoderConfig& config) {
  int full = 0;
  for (std::size_t i = 0; i < config.layer_attention.size(); ++i) {
    EXPECT_EQ(config.layer_attention[i] == LayerAttention::kFull, i % 3 == 0) << i;
    full += config.layer_attention[i] == LayerAttention::kFull ? 1 : 0;
  }
  EXPECT_EQ(full, 10);
  EXPECT_EQ(config.rope_theta_full, 160000.0);
  EXPECT_EQ(config.rope_theta_sliding, 10000.0);
  EXPECT_EQ(config.half_window, 64);
}

TEST(EncoderConfig, OldAndNewSpellingsMeanTheSame) {
  const auto old_form = parse(R"("model_type":"modernbert","global_attn_every_n_layers":3,)"
                              R"("global_rope_theta":160000,"local_rope_theta":10000)");
  ASSERT_TRUE(old_form.ok()) << old_form.error().message;
  check_same_pattern(*old_form);
  std::string types;
  for (int i = 0; i < 28; ++i)
    types += std::string(i ? "," : "") + (i % 3 ? "\"sliding_attention\"" : "\"full_attention\"");
  const auto new_form =
      parse(R"("model_type":"modernbert","global_attn_every_n_layers":5,"global_rope_theta":7,)"
            R"("local_rope_theta":7,"layer_types":[)" +
            types +
            R"(],"rope_parameters":{"full_attention":{"rope_type":"default","rope_theta":160000},)"
            R"("sliding_attention":{"rope_theta":10000.0}})");
  ASSERT_TRUE(new_form.ok()) << new_form.error().message;
  check_same_pattern(*new_form);
}

TEST(EncoderConfig, FlatRopeAppliesToBoth) {
  const auto config = parse(R"("model_type":"modernbert","rope_parameters":{"rope_theta":160000})");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->rope_theta_full, 160000.0);
  EXPECT_EQ(config->rope_theta_sliding, 160000.0);
}

TEST(EncoderConfig, BertHasBiasesAndPositions) {
  const auto config =
      parse(R"("model_type":"bert","layer_norm_eps":1e-12,"max_position_embeddings":512)");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->family, EncoderFamily::kBert);
  EXPECT_TRUE(config->attention_bias);
  EXPECT_EQ(config->positions_max, 512);
  EXPECT_EQ(config->token_types, 2);
}

TEST(EncoderConfig, RefusesByName) {
  using enum ErrorCode;
  check_refused(R"("model_type":"deberta")", kUnsupportedModel, "deberta");
  check_refused(R"("model_type":3)", kUnsupportedModel, "model_type");
  check_refused(R"("model_type":"modernbert","hidden_activation":"silu")", kUnsupportedModel,
                "hidden_activation");
  check_refused(
      R"("model_type":"modernbert","rope_parameters":{"full_attention":{"rope_type":"yarn"}})",
      kUnsupportedModel, "rope_type");
  check_refused(R"("model_type":"modernbert","rope_parameters":{"full_attention":3})",
                kArtifactIntegrity, "rope_parameters");
  check_refused(R"("model_type":"modernbert","layer_types":["full_attention"])", kUnsupportedModel,
                "layer_types");
  check_refused(R"("model_type":"modernbert","norm_eps":-1)", kArtifactIntegrity, "norm_eps");
  check_refused(R"("model_type":"modernbert","norm_bias":"yes")", kArtifactIntegrity, "norm_bias");
  check_refused(R"("model_type":"bert","position_embedding_type":"relative_key")",
                kUnsupportedModel, "position_embedding_type");
  check_refused(R"("model_type":"modernbert","hidden_size":0)", kUnsupportedModel, "hidden_size");
  check_refused(R"("model_type":"modernbert","hidden_size":62)", kUnsupportedModel, "heads");
  check_refused(R"("model_type":"modernbert","vocab_size":99999999999)", kUnsupportedModel,
                "vocab_size");
  check_refused(R"("model_type":"bert","num_hidden_layers":1025)", kUnsupportedModel,
                "num_hidden_layers is 1025, more than the 1024 that");
  check_refused(R"("model_type":"bert","hidden_size":65600)", kUnsupportedModel,
                "hidden_size is 65600, more than the 65536 that");
  check_refused(R"("model_type":"bert","intermediate_size":1048577)", kUnsupportedModel,
                "intermediate_size is 1048577, more than the 1048576 that");
  const auto broken = EncoderConfig::parse("[1]", "x/config.json");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, kArtifactIntegrity);
}

}  // namespace
}  // namespace layard::encoder
