#include "server/status_pages.h"

#include <algorithm>
#include <vector>

#include "base/json.h"
#include "layard/router.h"
#include "layard/version.h"

namespace layard::server {
namespace {

using base::JsonValue;

JsonValue text(std::string_view value) { return JsonValue::string(std::string(value)); }

bool is_loaded(const ServedModel& model) { return model.state == ServedModel::State::kReady; }

// `<repo>@<rev12> (<encoder>, <max_len> tokens)`, as far as it is known. A folder's revision is
// `sha256:` and 12 digits.
std::string description_of(const ServedModel& model) {
  std::string out = model.repo.empty() ? "a folder on the server" : model.repo;
  const std::size_t shown = model.revision.starts_with("sha256:") ? 19 : 12;
  if (!model.revision.empty()) out += "@" + model.revision.substr(0, shown);
  if (model.encoder.empty()) return out;
  return out + " (" + model.encoder + ", " + std::to_string(model.max_length) + " tokens)";
}

struct Listed {
  std::string name;
  std::string description;
  bool loaded = false;
  bool is_default = false;
};

JsonValue sdk_entry(const Listed& listed) {
  JsonValue out = JsonValue::object();
  out.set("name", text(listed.name));
  out.set("description", text(listed.description));
  out.set("release_date", text(""));
  out.set("loaded", JsonValue::boolean(listed.loaded));
  out.set("default", JsonValue::boolean(listed.is_default));
  return out;
}

JsonValue openai_entry(const Listed& listed) {
  JsonValue out = JsonValue::object();
  out.set("id", text(listed.name));
  out.set("object", text("model"));
  out.set("created", JsonValue::integer(0));
  out.set("owned_by", text("layard"));
  return out;
}

std::vector<Listed> listed_models(const ServerFacts& facts, std::span<const ServedModel> models) {
  std::vector<Listed> out;
  if (is_auto_model(facts.default_model)) {
    const auto loaded = [&](std::string_view name) {
      return std::ranges::any_of(
          models, [&](const ServedModel& model) { return model.name == name && is_loaded(model); });
    };
    out.push_back({"auto", "laya or laya-multilingual, by the text's language",
                   std::ranges::all_of(auto_checkpoints(), loaded), true});
  }
  for (const ServedModel& model : models) {
    if (model.name == "auto") continue;
    out.push_back({model.name, description_of(model), is_loaded(model), model.is_default});
  }
  return out;
}

}  // namespace

std::string models_json(const ServerFacts& facts, std::span<const ServedModel> models) {
  JsonValue sdk = JsonValue::array();
  JsonValue openai = JsonValue::array();
  for (const Listed& listed : listed_models(facts, models)) {
    sdk.push_back(sdk_entry(listed));
    openai.push_back(openai_entry(listed));
  }
  JsonValue out = JsonValue::object();
  out.set("models", std::move(sdk));
  out.set("object", text("list"));
  out.set("data", std::move(openai));
  return base::write_json(out, base::JsonStyle::kCompact);
}

std::string health_json(const ServerFacts& facts, std::span<const ServedModel> models,
                        bool is_trusted) {
  JsonValue out = JsonValue::object();
  out.set("status", text("ok"));
  if (is_trusted) {
    std::vector<std::string> names;
    JsonValue checkpoints = JsonValue::object();
    for (const ServedModel& model : models) {
      if (is_loaded(model)) names.push_back(model.name);
      if (model.state == ServedModel::State::kUnloaded) continue;
      checkpoints.set(model.name, text(to_string(model.state)));
    }
    std::ranges::sort(names);
    JsonValue loaded = JsonValue::array();
    for (const std::string& name : names) loaded.push_back(text(name));
    out.set("version", text(version()));
    out.set("default_model", text(facts.default_model));
    out.set("loaded", std::move(loaded));
    out.set("device", text(facts.device));
    out.set("checkpoints", std::move(checkpoints));
  }
  return base::write_json(out, base::JsonStyle::kCompact);
}

std::string ready_json(std::span<const ServedModel> models, bool is_ready, bool is_trusted) {
  JsonValue out = JsonValue::object();
  out.set("status", text(is_ready ? "ready" : "not ready"));
  if (is_trusted) {
    JsonValue checkpoints = JsonValue::object();
    for (const ServedModel& model : models) {
      if (model.is_preloaded) checkpoints.set(model.name, text(to_string(model.state)));
    }
    out.set("checkpoints", std::move(checkpoints));
  }
  return base::write_json(out, base::JsonStyle::kCompact);
}

}  // namespace layard::server
