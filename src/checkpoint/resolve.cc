#include "checkpoint/resolve.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/json.h"
#include "base/mapped_file.h"
#include "base/sha256.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;
using base::JsonValue;

constexpr std::size_t kModelsFileBytesMax = std::size_t{1} << 20;
constexpr std::size_t kModelsMax = 1024;

Error unknown(std::string_view model) {
  return {ErrorCode::kUnsupportedModel,
          "unknown model '" + std::string(model.substr(0, 200)) + "'; choose one of " +
              known_names() + ", a name of a models file, or a folder in the published layout"};
}

// Names of the models file: like registry names, so that they cannot be taken for paths.
bool is_model_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 128 && name != "auto" && allowed(name.front()) &&
         name.front() != '.' && name.front() != '_' && name.front() != '-' &&
         std::ranges::all_of(name, allowed);
}

// One entry of a models file.
class Entry {
 public:
  Entry(const fs::path& file, const std::string& name, const JsonValue& value)
      : file_(file), name_(name), value_(value) {}

  Result<ModelSource> read() const {
    ModelSource source;
    source.kind = SourceKind::kModelsFile;
    source.name = name_;
    if (value_.is_string()) {
      LAYARD_TRY(set_folder(value_, source));
      return source;
    }
    if (!value_.is_object()) return bad("is neither a folder nor an object");
    LAYARD_ASSIGN(source.sha256, text_of("sha256"));
    if (!source.sha256.empty() && !base::is_sha256_hex(source.sha256)) {
      return bad("has a 'sha256' that is not 64 lower-case hex digits");
    }
    const bool folder = value_.find("path") != nullptr;
    if (folder == (value_.find("repo") != nullptr)) {
      return bad("needs either 'path' or 'repo'");
    }
    LAYARD_TRY(folder ? set_folder(*value_.find("path"), source) : set_remote(source));
    return source;
  }

 private:
  Error bad(const std::string& problem) const {
    return {ErrorCode::kArtifactIntegrity,
            "models file '" + file_.string() + "': '" + name_.substr(0, 128) + "' " + problem};
  }

  Result<std::string> text_of(std::string_view key) const {
    const JsonValue* value = value_.find(key);
    if (value == nullptr) return std::string();
    if (!value->is_string()) return bad("has a '" + std::string(key) + "' that is not a string");
    return value->text();
  }

  Status set_folder(const JsonValue& value, ModelSource& source) const {
    if (!value.is_string() || value.text().empty())
      return bad("has a 'path' that is no folder name");
    // Relative to the file, so that a folder of models can be moved with its file.
    source.folder = file_.parent_path() / value.text();
    return {};
  }

  // A checkpoint of the hub that the registry does not have.
  Status set_remote(ModelSource& source) const {
    ModelSpec spec;
    spec.name = name_;
    LAYARD_ASSIGN(spec.repo, text_of("repo"));
    LAYARD_ASSIGN(spec.revision, text_of("revision"));
    std::optional<std::uint64_t> bytes;
    if (const JsonValue* value = value_.find("bytes")) {
      const auto number = value->as_int64();
      if (!number || *number <= 0) return bad("has a 'bytes' that is not a positive number");
      bytes = static_cast<std::uint64_t>(*number);
    }
    if (source.sha256.empty()) return bad("needs 'sha256', the hash of model.safetensors");
    spec.files = published_files(bytes, source.sha256);
    const Status checked = check_spec(spec);
    if (!checked.ok()) return bad("cannot be used: " + checked.error().message);
    source.spec = std::make_shared<const ModelSpec>(std::move(spec));
    return {};
  }

  const fs::path& file_;
  const std::string& name_;
  const JsonValue& value_;
};

Result<JsonValue> read_models_file(const fs::path& file) {
  LAYARD_ASSIGN(const std::string text, base::read_text_file(file, kModelsFileBytesMax));
  const base::JsonLimits limits{
      .bytes_max = kModelsFileBytesMax, .depth_max = 8, .nodes_max = 20'000};
  auto json = base::parse_json(text, limits);
  const std::string start = "models file '" + file.string() + "' ";
  if (!json.ok())
    return Error{ErrorCode::kArtifactIntegrity, start + "is not usable: " + json.error().message};
  if (!json->is_object() || json->size() > kModelsMax) {
    return Error{ErrorCode::kArtifactIntegrity,
                 start + "is not an object of at most 1024 names, {\"name\": \"folder\"}"};
  }
  for (const base::JsonMember& member : json->members()) {
    if (is_model_name(member.key)) continue;
    return Error{ErrorCode::kArtifactIntegrity,
                 start + "has the name '" + member.key.substr(0, 128) +
                     "'; names are lower-case letters, digits, '.', '_' and '-', and not 'auto'"};
  }
  return json;
}

// The models file's meaning of `model`, if it has one.
Result<std::optional<ModelSource>> find_mapped(std::string_view model, const ModelSpec* pinned,
                                               const fs::path& file) {
  if (file.empty()) return std::optional<ModelSource>();
  LAYARD_ASSIGN(const JsonValue json, read_models_file(file));
  const std::string name = pinned != nullptr ? pinned->name : normalized_name(model);
  const JsonValue* value = nullptr;
  for (const base::JsonMember& member : json.members()) {
    const bool same = pinned != nullptr ? find_spec(member.key) == pinned : member.key == name;
    if (!same) continue;
    if (value != nullptr) {
      return Error{ErrorCode::kArtifactIntegrity, "models file '" + file.string() + "' names '" +
                                                      name + "' twice, once by an alias"};
    }
    value = &member.value;
  }
  if (value == nullptr) return std::optional<ModelSource>();
  LAYARD_ASSIGN(ModelSource source, Entry(file, name, *value).read());
  source.mapped_away_from_pin = pinned != nullptr && source.sha256 != pinned->weights().sha256;
  return std::optional(std::move(source));
}

Result<ModelSource> find_starter(const ResolveOptions& options) {
  std::string looked;
  for (const fs::path& folder : options.starter_search) {
    const fs::path candidate = folder / "starter";
    std::error_code ignored;
    if (fs::is_regular_file(candidate / "rl_agent_config.json", ignored)) {
      return ModelSource{.kind = SourceKind::kStarter,
                         .name = "starter",
                         .spec = nullptr,
                         .folder = candidate,
                         .sha256 = {},
                         .mapped_away_from_pin = false};
    }
    looked += (looked.empty() ? "'" : ", '") + candidate.string() + "'";
  }
  return Error{ErrorCode::kBackendUnavailable,
               "the starter checkpoint is not installed (looked in " +
                   (looked.empty() ? std::string("no folder") : looked) +
                   "); run \"make install\" again, or name another model"};
}

// Upstream's rule: a bare word is a folder only when it holds a checkpoint.
bool is_path_like(std::string_view model) {
  return model.starts_with('/') || model.starts_with("./") || model.starts_with("../") ||
         model == "." || model == "..";
}

}  // namespace

Result<ModelSource> resolve_model(std::string_view model, const ResolveOptions& options) {
  const std::string name = normalized_name(model);
  const ModelSpec* pinned = find_spec(model);
  LAYARD_ASSIGN(auto mapped, find_mapped(model, pinned, options.models_file));
  if (mapped) return *std::move(mapped);
  if (pinned != nullptr) {
    return ModelSource{.kind = SourceKind::kRegistry,
                       .name = pinned->name,
                       .spec = std::make_shared<const ModelSpec>(*pinned),
                       .folder = {},
                       .sha256 = pinned->weights().sha256,
                       .mapped_away_from_pin = false};
  }
  if (name == "starter") return find_starter(options);

  const fs::path folder(model);
  std::error_code ignored;
  const bool exists = !model.empty() && fs::is_directory(folder, ignored);
  const bool separated = model.find('/') != std::string_view::npos || is_path_like(model);
  if (exists && (separated || fs::exists(folder / "rl_agent_config.json", ignored))) {
    return ModelSource{.kind = SourceKind::kFolder,
                       .name = std::string(model),
                       .spec = nullptr,
                       .folder = folder,
                       .sha256 = {},
                       .mapped_away_from_pin = false};
  }
  if (is_path_like(model)) {
    return Error{ErrorCode::kIo, "Local model path not found: '" + std::string(model) +
                                     "'. Check that the directory exists and that training saved "
                                     "the model successfully."};
  }
  return unknown(model);
}

}  // namespace layard::checkpoint
