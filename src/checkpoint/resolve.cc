#include "checkpoint/resolve.h"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

#include "base/json.h"
#include "base/mapped_file.h"
#include "base/sha256.h"
#include "layard/words.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;
using base::JsonValue;

constexpr std::size_t kModelsFileBytesMax = std::size_t{1} << 20;
constexpr std::size_t kModelsMax = 1024;

// Names of the models file: like registry names, so that they cannot be taken for paths.
bool is_model_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 128 && name != "auto" && allowed(name.front()) &&
         name.front() != '.' && name.front() != '_' && name.front() != '-' &&
         std::ranges::all_of(name, allowed);
}

// People write models files: what is wrong in one is theirs to correct, not a damaged download.
Error bad_file(const std::string& text) {
  return {ErrorCode::kInvalidRequest, text + "; correct the file"};
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
    LAYARD_TRY(check_fields());
    LAYARD_ASSIGN(source.sha256, text_of("sha256"));
    if (value_.find("sha256") != nullptr && !base::is_sha256_hex(source.sha256)) {
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
    return bad_file("models file '" + file_.string() + "': '" + name_.substr(0, 128) + "' " +
                    problem);
  }

  // A field that is not read is refused: a slip in 'sha256' would switch the check off.
  Status check_fields() const {
    const bool folder = value_.find("path") != nullptr && value_.find("repo") == nullptr;
    std::vector<std::string> fields{"path", "sha256"};
    if (!folder) fields = {"path", "repo", "revision", "sha256", "bytes"};
    std::string list;
    for (const std::string& field : fields) list += (list.empty() ? "" : ", ") + field;
    for (const base::JsonMember& member : value_.members()) {
      if (std::ranges::find(fields, member.key) != fields.end()) continue;
      return bad("has the field '" + member.key.substr(0, 64) + "'" +
                 did_you_mean(member.key, fields) + ", which is none of " +
                 (folder ? "an entry with 'path': " : "an entry: ") + list);
    }
    return {};
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

// Finds a name that is given twice, of which the parsed value would hold only the last.
class DuplicateFinder final : public base::JsonHandler {
 public:
  /// "the name 'a'", "'path' of 'a'"; empty: none.
  const std::string& found() const { return found_; }

  bool on_null() override { return true; }
  bool on_bool(bool) override { return true; }
  bool on_number(std::string_view, bool) override { return true; }
  bool on_string(std::string_view) override { return true; }
  bool on_begin_array() override { return open(); }
  bool on_end_array() override { return close(); }
  bool on_begin_object() override { return open(); }
  bool on_end_object() override { return close(); }
  bool on_key(std::string_view key) override {
    if (keys_.back().insert(std::string(key)).second) {
      if (keys_.size() == 1) name_ = key;
      return true;
    }
    const std::string shown = "'" + std::string(key.substr(0, 128)) + "'";
    found_ = keys_.size() == 1 ? "the name " + shown : shown + " of '" + name_.substr(0, 128) + "'";
    return false;
  }

 private:
  bool open() {
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;  // of the open brackets
  std::string name_;
  std::string found_;
};

Result<JsonValue> read_models_file(const fs::path& file) {
  const std::string start = "models file '" + file.string() + "' ";
  const auto text = base::read_text_file(file, kModelsFileBytesMax);
  if (!text.ok()) {
    return Error{text.error().code, start + "cannot be read: " + text.error().message +
                                        "; correct --models or LAYARD_MODELS"};
  }
  const base::JsonLimits limits{
      .bytes_max = kModelsFileBytesMax, .depth_max = 8, .nodes_max = 20'000};
  auto json = base::parse_json(*text, limits);
  if (!json.ok()) return bad_file(start + "is not usable: " + json.error().message);
  if (!json->is_object() || json->size() > kModelsMax) {
    return bad_file(start + "is not an object of at most 1024 names, {\"name\": \"folder\"}");
  }
  DuplicateFinder duplicates;
  LAYARD_TRY(base::parse_json_events(*text, limits, duplicates));
  if (!duplicates.found().empty()) {
    return bad_file(start + "has " + duplicates.found() + " twice");
  }
  for (const base::JsonMember& member : json->members()) {
    if (is_model_name(member.key)) continue;
    return bad_file(start + "has the name '" + member.key.substr(0, 128) +
                    "'; names are lower-case letters, digits, '.', '_' and '-', and not 'auto'");
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
      return bad_file("models file '" + file.string() + "' names '" + name +
                      "' twice, once by an alias");
    }
    value = &member.value;
  }
  if (value == nullptr) return std::optional<ModelSource>();
  LAYARD_ASSIGN(ModelSource source, Entry(file, name, *value).read());
  source.mapped_away_from_pin =
      pinned != nullptr ? source.sha256 != pinned->weights().sha256 : name == "starter";
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

// What a name could have been meant to be: every name, alias and repository there is.
std::vector<std::string> all_names(const ResolveOptions& options) {
  std::vector<std::string> names;
  if (const auto short_names = model_names(options); short_names.ok()) names = *short_names;
  names.emplace_back("auto");
  for (const ModelSpec& spec : registry()) {
    names.insert(names.end(), spec.aliases.begin(), spec.aliases.end());
    names.push_back(spec.repo);
  }
  return names;
}

// The names of the models file that no other list has, for a message: ", mine, other".
std::string own_names(const ResolveOptions& options) {
  constexpr std::size_t kShownMax = 20;
  const auto names = model_names(options);
  const std::size_t others = 1 + registry().size();
  std::string text;
  for (std::size_t i = others; names.ok() && i < names->size() && i < others + kShownMax; ++i) {
    text += ", " + (*names)[i].substr(0, 128);
  }
  return names.ok() && names->size() > others + kShownMax ? text + ", ..." : text;
}

Error unknown(std::string_view model, const ResolveOptions& options) {
  const std::string others = own_names(options) +
                             ", a name of a models file, or a folder in the "
                             "published layout";
  if (normalized_name(model) == "auto") {
    return {ErrorCode::kUnsupportedModel,
            "'auto' is no checkpoint but a choice by each text's language, in predict, render, "
            "info and download; here name one of " +
                known_names() + others};
  }
  return {ErrorCode::kUnsupportedModel, "unknown model '" + std::string(model.substr(0, 200)) +
                                            "'" + did_you_mean(model, all_names(options)) +
                                            "; choose one of auto (in predict, render, "
                                            "info and download), " +
                                            known_names() + others};
}

// Upstream's rule: a bare word is a folder only when it holds a checkpoint.
bool is_path_like(std::string_view model) {
  return model.starts_with('/') || model.starts_with("./") || model.starts_with("../") ||
         model == "." || model == "..";
}

// Whether `model` is the path of a folder; an error where that cannot be seen, and for a path of
// something else.
Result<bool> names_folder(std::string_view model) {
  const bool separated = model.find('/') != std::string_view::npos || is_path_like(model);
  std::error_code error;
  const fs::path folder(model);
  const fs::file_status status = fs::status(folder, error);
  const auto denied = [&] {
    return Error{ErrorCode::kIo, "cannot examine '" + std::string(model) + "': " + error.message() +
                                     "; give this user access to the folder and those above it"};
  };
  if (separated && error == std::errc::permission_denied) return denied();
  if (separated && fs::exists(status) && !fs::is_directory(status)) {
    return Error{ErrorCode::kIo, "'" + std::string(model) +
                                     "' is not a folder; name a folder in the published layout"};
  }
  if (!fs::is_directory(status) || separated) return fs::is_directory(status);
  const bool holds_checkpoint = fs::exists(folder / "rl_agent_config.json", error);
  if (error == std::errc::permission_denied) return denied();
  return holds_checkpoint;
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

  if (name == "auto") return unknown(model, options);
  LAYARD_ASSIGN(const bool is_folder, names_folder(model));
  if (is_folder) {
    return ModelSource{.kind = SourceKind::kFolder,
                       .name = std::string(model),
                       .spec = nullptr,
                       .folder = fs::path(model),
                       .sha256 = {},
                       .mapped_away_from_pin = false};
  }
  if (is_path_like(model)) {
    return Error{ErrorCode::kIo, "Local model path not found: '" + std::string(model) +
                                     "'. Check that the directory exists and that training saved "
                                     "the model successfully."};
  }
  return unknown(model, options);
}

Result<std::vector<std::string>> model_names(const ResolveOptions& options) {
  std::vector<std::string> names = {"starter"};
  for (const ModelSpec& spec : registry()) names.push_back(spec.name);
  if (options.models_file.empty()) return names;
  LAYARD_ASSIGN(const JsonValue json, read_models_file(options.models_file));
  for (const base::JsonMember& member : json.members()) {
    const ModelSpec* pinned = find_spec(member.key);
    if (pinned == nullptr && member.key != "starter") names.push_back(member.key);
  }
  return names;
}

}  // namespace layard::checkpoint
