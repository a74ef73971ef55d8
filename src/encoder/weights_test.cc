#include "encoder/weights.h"

#include <gtest/gtest.h>

#include "support/tiny_weights.h"

namespace layard::encoder {
namespace {

class Binder {
 public:
  Binder() : tiny_(testing::tiny_modernbert(), {2, 2}, 1), names_(tiny_.names()) {}

  void remove(const std::string& part) {
    std::erase_if(names_,
                  [&](const std::string& name) { return name.find(part) != std::string::npos; });
    std::erase_if(tiny_.views(),
                  [&](const auto& entry) { return entry.first.find(part) != std::string::npos; });
  }
  void reshape(const std::string& name, tensor::Shape shape) {
    tiny_.views()[name].shape = std::move(shape);
  }
  void add(const std::string& name) {
    names_.push_back(name);
    tiny_.views()[name] = tiny_.views()["temperature"];
  }

  void check(const std::string& part) {
    const auto bound = ModelWeights::bind(
        testing::tiny_modernbert(), {2, 2}, names_,
        [this](std::string_view name) -> const tensor::TensorView* {
          const auto found = tiny_.views().find(name);
          return found == tiny_.views().end() ? nullptr : &found->second;
        },
        "m");
    if (part.empty()) {
      EXPECT_TRUE(bound.ok()) << bound.error().message;
      return;
    }
    ASSERT_FALSE(bound.ok());
    EXPECT_EQ(bound.error().code, ErrorCode::kUnsupportedModel);
    EXPECT_NE(bound.error().message.find(part), std::string::npos) << bound.error().message;
  }

 private:
  testing::RandomWeights tiny_;
  std::vector<std::string> names_;
};

TEST(ModelWeights, BindsEverything) { Binder().check(""); }

TEST(ModelWeights, NamesMissingParts) {
  for (const char* part : {"encoder.", "type_emb.", "scorer.", "act_head."}) {
    Binder binder;
    binder.remove(part);
    binder.check(std::string("missing '") + part);
  }
}

TEST(ModelWeights, NamesShapesMissingAndExtra) {
  Binder shapes;
  shapes.reshape("scorer.1.weight", {31, 32});
  shapes.check("scorer.1.weight: expected (32, 32), found (31, 32)");
  Binder missing;
  missing.remove("head.layers.1.norm2");
  missing.check("missing 2 parameter tensors (e.g. head.layers.1.norm2.weight");
  Binder no_temperature;
  no_temperature.remove("temperature");
  no_temperature.check("temperature");
  Binder extra;
  extra.add("decoder.weight");
  extra.check("unexpected tensors (decoder.weight)");
  Binder layer0;
  layer0.add("encoder.layers.0.attn_norm.weight");
  layer0.check("unexpected");
}

TEST(ModelWeights, ParameterCountOfTheLargeCheckpoint) {
  EncoderConfig config = testing::tiny_modernbert();
  config.vocab_size = 50368;
  config.hidden_size = 1024;
  config.intermediate_size = 2624;
  config.layers = 28;
  config.heads = 16;
  std::size_t count = 0;
  for (const auto& expected : expected_tensors(config, {2, 2}))
    count += tensor::element_count(expected.shape);
  EXPECT_EQ(count, 421293830U);  // the published file's parameters, the temperature buffer included
}

}  // namespace
}  // namespace layard::encoder
