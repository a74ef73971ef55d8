#include "tokenizer/tokenizer_file.h"

#include <charconv>
#include <limits>
#include <utility>

#include "base/file_limits.h"
#include "tokenizer/json_fields.h"

namespace layard::tokenizer {
namespace {

constexpr base::JsonLimits kLimits = {.bytes_max = base::kTokenizerFileBytesMax,
                                      .depth_max = 64,
                                      .nodes_max = std::size_t{16} << 20U};

// Builds one JSON value from events.
class ValueBuilder {
 public:
  bool empty() const { return open_.empty() && !done_; }
  bool done() const { return done_; }
  base::JsonValue take() {
    done_ = false;
    return std::move(root_);
  }
  void begin(base::JsonValue container) { open_.push_back({std::move(container), {}}); }
  void key(std::string_view key) { open_.back().key = key; }
  void end() {
    base::JsonValue value = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(value));
  }
  void add(base::JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
      done_ = true;
    } else if (open_.back().value.is_array()) {
      open_.back().value.push_back(std::move(value));
    } else {
      open_.back().value.set(open_.back().key, std::move(value));
    }
  }

 private:
  struct Open {
    base::JsonValue value;
    std::string key;
  };
  std::vector<Open> open_;
  base::JsonValue root_;
  bool done_ = false;
};

// Where the events of the document go. Depths count open containers: 1 is the root object.
class FileHandler final : public base::JsonHandler {
 public:
  FileHandler(TokenizerFile& file, std::size_t json_bytes) : file_(file), json_bytes_(json_bytes) {}

  const std::optional<Error>& error() const { return error_; }

  bool on_null() override { return scalar(base::JsonValue::null()); }
  bool on_bool(bool value) override { return scalar(base::JsonValue::boolean(value)); }
  bool on_number(std::string_view text, bool integer) override {
    // Depth 3 is inside the vocabulary's own braces; before them there is no entry to number.
    if (target_ == Target::kVocabulary && depth_ == 3) return vocabulary_id(text, integer);
    return scalar(integer ? base::JsonValue::integer_text(std::string(text))
                          : base::JsonValue::real_text(std::string(text)));
  }
  bool on_string(std::string_view text) override {
    if (target_ == Target::kMerges) return merge_text(text);
    if (target_ == Target::kSkip) return skipped();
    return scalar(base::JsonValue::string(std::string(text)));
  }
  bool on_begin_object() override { return begin(true); }
  bool on_begin_array() override { return begin(false); }
  bool on_end_object() override { return end(); }
  bool on_end_array() override { return end(); }

  bool on_key(std::string_view key) override {
    if (target_ == Target::kVocabulary) {
      entry_ = file_.model->vocabulary->insert(key);
    } else if (target_ == Target::kValue) {
      builder_.key(key);
    } else if (target_ == Target::kNone) {
      key_ = key;
      target_ = target_of(key);
    }
    return true;
  }

 private:
  enum class Target : unsigned char { kNone, kSkip, kValue, kModel, kVocabulary, kMerges };

  Target target_of(std::string_view key) const {
    if (in_model_) {
      if (key == "vocab") return Target::kVocabulary;
      return key == "merges" ? Target::kMerges : Target::kValue;
    }
    if (key == "model") return Target::kModel;
    const bool read = key == "version" || key == "added_tokens" || key == "normalizer" ||
                      key == "pre_tokenizer" || key == "decoder";
    return read ? Target::kValue : Target::kSkip;
  }

  bool fail(std::string_view where, const std::string& what) {
    error_ = bad_file(where, what);
    return false;
  }

  bool begin(bool object) {
    ++depth_;
    if (depth_ == 1) return object || fail("the document", "expected an object");
    switch (target_) {
      case Target::kSkip:
        return true;
      case Target::kValue:
        builder_.begin(object ? base::JsonValue::object() : base::JsonValue::array());
        return true;
      case Target::kModel:
        if (!object) return fail("model", "expected an object");
        in_model_ = true;
        target_ = Target::kNone;
        file_.model.emplace();
        return true;
      case Target::kVocabulary:
        return begin_vocabulary(object);
      case Target::kMerges:
        return begin_merges(object);
      default:
        return fail("the document", "a value without a key");
    }
  }

  bool begin_vocabulary(bool object) {
    if (depth_ != 3) return fail("model.vocab", "expected token texts with whole numbers");
    file_.model->vocabulary.reset();
    // An array is the vocabulary of a model that is not read here; its type is refused later.
    if (object) {
      file_.model->vocabulary.emplace();
      file_.model->vocabulary->reserve(json_bytes_);
    } else {
      target_ = Target::kSkip;
    }
    return true;
  }

  bool begin_merges(bool object) {
    const bool list = depth_ == 3 && !object;
    const bool pair = depth_ == 4 && !object && !strings_;
    if (!list && !pair) return fail(merge_path(), "expected pairs of texts");
    if (list) {
      file_.model->merges.emplace();
      file_.model->merges->reserve(json_bytes_);
      strings_ = false;
    }
    pair_size_ = 0;
    return true;
  }

  bool end() {
    --depth_;
    switch (target_) {
      case Target::kSkip:
        return skipped();
      case Target::kValue:
        builder_.end();
        return finish_value();
      case Target::kVocabulary:
        target_ = Target::kNone;
        return true;
      case Target::kMerges:
        if (depth_ == 2) {
          target_ = Target::kNone;
          return true;
        }
        return pair_size_ == 2 || fail(merge_path(), "expected two texts");
      default:
        in_model_ = in_model_ && depth_ >= 2;
        return true;
    }
  }

  bool skipped() {
    if (depth_ == base_depth()) target_ = Target::kNone;
    return true;
  }

  int base_depth() const { return in_model_ ? 2 : 1; }

  bool scalar(base::JsonValue value) {
    switch (target_) {
      case Target::kSkip:
        return skipped();
      case Target::kValue:
        builder_.add(std::move(value));
        return finish_value();
      case Target::kModel:
        return fail("model", "expected an object");
      case Target::kVocabulary:
        return fail("model.vocab", "expected token texts with whole numbers");
      case Target::kMerges:
        return fail(merge_path(), "expected pairs of texts");
      default:
        return fail("the document", "expected an object");
    }
  }

  bool finish_value() {
    if (!builder_.done()) return true;
    base::JsonValue value = builder_.take();
    target_ = Target::kNone;
    if (in_model_) {
      file_.model->fields.set(key_, std::move(value));
    } else if (key_ == "version") {
      if (value.text() != "1.0" || !value.is_string()) {
        return fail("version", "expected \"1.0\", found " +
                                   base::write_json(value, base::JsonStyle::kCompact));
      }
    } else if (key_ == "added_tokens") {
      if (!value.is_array()) return fail("added_tokens", "expected an array");
      file_.added_tokens = std::move(value);
    } else if (key_ == "normalizer") {
      file_.normalizer = std::move(value);
    } else if (key_ == "pre_tokenizer") {
      file_.pre_tokenizer = std::move(value);
    } else {
      file_.decoder = std::move(value);
    }
    return true;
  }

  bool vocabulary_id(std::string_view text, bool integer) {
    std::int32_t id = -1;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), id);
    if (!integer || read.ec != std::errc() || id < 0 || depth_ != 3) {
      return fail("model.vocab", "the id of \"" +
                                     std::string(file_.model->vocabulary->text_at(entry_)) +
                                     "\" is not a whole number below 2^31");
    }
    file_.model->vocabulary->set_id(entry_, id);
    return true;
  }

  bool merge_text(std::string_view text) {
    MergeTexts& merges = *file_.model->merges;
    if (depth_ == 4) {
      if (pair_size_ == 0) merges.add_left(text);
      if (pair_size_ == 1) merges.add_right(text);
      ++pair_size_;
      return true;
    }
    if (depth_ != 3 || (!strings_ && merges.size() > 0)) {
      return fail(merge_path(), "expected pairs of texts");
    }
    strings_ = true;
    if (text.starts_with("#version")) return true;
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos || text.find(' ', blank + 1) != std::string_view::npos) {
      return fail(merge_path(), "expected two texts with one blank between them");
    }
    merges.add_left(text.substr(0, blank));
    merges.add_right(text.substr(blank + 1));
    return true;
  }

  std::string merge_path() const {
    const auto& merges = file_.model->merges;
    return "model.merges[" + std::to_string(merges ? merges->size() : 0) + "]";
  }

  TokenizerFile& file_;
  const std::size_t json_bytes_;
  std::optional<Error> error_;
  ValueBuilder builder_;
  Target target_ = Target::kNone;
  std::string key_;
  std::uint32_t entry_ = 0;
  int depth_ = 0;
  int pair_size_ = 0;
  bool in_model_ = false;
  bool strings_ = false;  // merges in the old spelling
};

}  // namespace

void MergeTexts::reserve(std::size_t json_bytes) {
  arena_.reserve(json_bytes / 3);
  pairs_.reserve(json_bytes / 32);
}

void MergeTexts::add_left(std::string_view text) {
  pairs_.push_back(
      {static_cast<std::uint32_t>(arena_.size()), static_cast<std::uint32_t>(text.size()), 0});
  arena_.append(text);
}

void MergeTexts::add_right(std::string_view text) {
  pairs_.back().right_bytes = static_cast<std::uint32_t>(text.size());
  arena_.append(text);
}

Result<TokenizerFile> read_tokenizer_file(std::string_view json) {
  TokenizerFile file;
  FileHandler handler(file, json.size());
  const Status parsed = base::parse_json_events(json, kLimits, handler);
  if (!parsed.ok()) {
    return Error{ErrorCode::kArtifactIntegrity, "tokenizer.json: " + parsed.error().message};
  }
  if (handler.error()) return *handler.error();
  if (!file.model) return bad_file("model", "the field is missing");
  return file;
}

}  // namespace layard::tokenizer
