/// A fake hub with one tiny registered model, two empty caches, and the options that join them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/sha256.h"
#include "checkpoint/hub.h"
#include "hub/fake_hub.h"
#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard::testing {

class HubWorld {
 public:
  HubWorld() {
    const TinyOptions tiny{.dtype = tensor::DType::kFloat16, .layers = 1, .head_layers = 1};
    contents_ = {{"rl_agent_config.json", tiny_agent_config(tiny)},
                 {"encoder/config.json", tiny_encoder_config(tiny)},
                 {"tokenizer/tokenizer_config.json", tiny_tokenizer_config()},
                 {"tokenizer/tokenizer.json", tiny_tokenizer_json(false)},
                 {"model.safetensors", safetensors_bytes(tiny_weights(tiny), tiny.dtype)}};
    spec.name = "tiny";
    spec.repo = "test-org/tiny";
    spec.revision = "0123456789abcdef0123456789abcdef01234567";
    spec.files = checkpoint::published_files(weights().size(), base::sha256_hex(weights()));
    for (const auto& [path, content] : contents_) hub.serve(url_path(path), content);
    access.options.endpoint = hub.url();
    access.options.hub_cache = folder / "hub";
    access.options.layard_cache = folder / "layard";
    access.options.free_bytes_reserve = 0;
    access.options.stall_timeout_s = 1;
    access.clock = &clock;
    paths = checkpoint::HubPaths::of(access.options.hub_cache, spec);
  }

  std::string url_path(const std::string& file) const {
    return "/" + spec.repo + "/resolve/" + spec.revision + "/" + file;
  }
  const std::string& content(const std::string& file) const {
    for (const auto& [path, text] : contents_) {
      if (path == file) return text;
    }
    throw std::out_of_range(file);
  }
  const std::string& weights() const { return content("model.safetensors"); }

  Result<std::filesystem::path> download() { return checkpoint::download_checkpoint(spec, access); }

  /// Whether the snapshot is there with exactly the right content.
  bool complete() const {
    for (const auto& [path, text] : contents_) {
      if (read_file(paths.snapshot / path) != text) return false;
    }
    return true;
  }
  /// Whether every file visible in snapshots/ is a right one.
  bool nothing_partial() const {
    std::error_code ignored;
    for (const auto& [path, text] : contents_) {
      const auto file = paths.snapshot / path;
      if (std::filesystem::exists(file, ignored) && read_file(file) != text) return false;
    }
    return true;
  }
  /// Requests for `file`.
  std::size_t hits(const std::string& file) const {
    std::size_t count = 0;
    for (const HubRequest& request : hub.requests())
      count += request.path == url_path(file) ? 1 : 0;
    return count;
  }
  /// Names in blobs/ that are not content: unfinished files, their ETags, the lock.
  std::vector<std::string> unfinished() const {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(paths.blobs, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.find(".incomplete") != std::string::npos) names.push_back(name);
    }
    return names;
  }

  TempDir folder;
  FakeHub hub;
  base::FakeClock clock;
  checkpoint::ModelSpec spec;
  checkpoint::HubAccess access;
  checkpoint::HubPaths paths;

 private:
  std::vector<std::pair<std::string, std::string>> contents_;
};

}  // namespace layard::testing
