/// A tiny checkpoint on disk and options that open it, for tests of what opens models.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "layard/model.h"
#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard::testing {

class TinyModel : public ::testing::Test {
 protected:
  void SetUp() override { write_tiny_checkpoint(folder_.path(), {}); }

  ModelOptions options() {
    ModelOptions options;
    options.model = folder_.path().string();
    options.environment.threads = 1;
    options.log = [this](std::string_view level, std::string_view message) {
      if (level == "debug") return;
      log_ += std::string(message) + "\n";
    };
    return options;
  }

  std::unique_ptr<Model> open() {
    auto model = Model::open(options());
    EXPECT_TRUE(model.ok()) << model.error().message;
    return *std::move(model);
  }

  TempDir folder_;
  std::string log_;
};

}  // namespace layard::testing
