#include "checkpoint/remote_json.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/json.h"
#include "checkpoint/agent_config.h"

namespace layard::checkpoint {
namespace {

// Without these no loader can use the file.
struct NeededName {
  std::string_view path;
  std::string_view name;
};
constexpr std::array<NeededName, 5> kNeeded{{
    {"encoder/config.json", "model_type"},
    {"tokenizer/tokenizer.json", "model"},
    {"tokenizer/tokenizer_config.json", "cls_token"},
    {"tokenizer/tokenizer_config.json", "sep_token"},
    {"tokenizer/tokenizer_config.json", "mask_token"},
}};

// Any JSON, without building it (a tokenizer has millions of values): whether it is an object, and
// which of the needed names it has at its top.
class TopLevel final : public base::JsonHandler {
 public:
  explicit TopLevel(std::string_view path) : path_(path) {}

  bool is_object() const { return is_object_; }
  bool has(std::string_view name) const {
    for (std::size_t i = 0; i < kNeeded.size(); ++i) {
      if (kNeeded[i].path == path_ && kNeeded[i].name == name) return seen_[i];
    }
    return true;
  }

  bool on_null() override { return true; }
  bool on_bool(bool) override { return true; }
  bool on_number(std::string_view, bool) override { return true; }
  bool on_string(std::string_view) override { return true; }
  bool on_begin_object() override {
    is_object_ = is_object_ || depth_ == 0;
    return open();
  }
  bool on_key(std::string_view key) override {
    if (depth_ != 1) return true;
    for (std::size_t i = 0; i < kNeeded.size(); ++i) {
      if (kNeeded[i].path == path_ && kNeeded[i].name == key) seen_[i] = true;
    }
    return true;
  }
  bool on_end_object() override { return close(); }
  bool on_begin_array() override { return open(); }
  bool on_end_array() override { return close(); }

 private:
  bool open() {
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  std::string_view path_;
  std::size_t depth_ = 0;
  bool is_object_ = false;
  std::array<bool, kNeeded.size()> seen_{};
};

}  // namespace

Status check_remote_json(std::string_view path, std::string_view text, std::string_view model) {
  if (path == "rl_agent_config.json") {
    const auto config = AgentConfig::parse(text, model);
    return config.ok() ? Status() : Status(config.error());
  }
  const base::JsonLimits limits{.bytes_max = std::max<std::size_t>(text.size(), 1),
                                .nodes_max = std::size_t{64} << 20};
  TopLevel top(path);
  LAYARD_TRY(base::parse_json_events(text, limits, top));
  if (!top.is_object()) return Error{ErrorCode::kArtifactIntegrity, "it is not an object"};
  for (const NeededName& needed : kNeeded) {
    if (needed.path != path || top.has(needed.name)) continue;
    return Error{ErrorCode::kArtifactIntegrity, "it has no \"" + std::string(needed.name) + "\""};
  }
  return {};
}

}  // namespace layard::checkpoint
