#include "checkpoint/safetensors_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_set>

#include "base/json.h"

namespace layard::checkpoint {
namespace {

// Names of the format that stand for element types no decision model is computed in.
constexpr std::array<std::string_view, 19> kOtherDtypes{
    "BOOL",    "F4",      "F6_E2M3",     "F6_E3M2",     "U8",  "I8",  "F8_E5M2",
    "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16", "U16", "I32",
    "U32",     "C64",     "F64",         "I64",         "U64"};

std::optional<tensor::DType> model_dtype(std::string_view name) {
  if (name == "F16") return tensor::DType::kFloat16;
  if (name == "BF16") return tensor::DType::kBFloat16;
  if (name == "F32") return tensor::DType::kFloat32;
  return std::nullopt;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text, bool integer) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!integer || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// `a * b`, or nothing when it does not fit.
std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// What has been read of one entry.
struct Entry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;
};

// Turns the events of the header's JSON into entries. The first problem is kept and ends the parse.
class HeaderReader final : public base::JsonHandler {
 public:
  bool on_null() override {
    // The reference library writes an absent __metadata__ this way when asked to.
    if (depth_ == 1 && in_metadata_) return true;
    return other_value("null");
  }
  bool on_bool(bool) override { return other_value("a boolean"); }
  bool on_number(std::string_view text, bool integer) override {
    if (depth_ != 3 || list_ == nullptr) return other_value("a number");
    const auto value = parse_unsigned(text, integer);
    if (!value) {
      return fail(field_ + " has " + std::string(text.substr(0, 32)) +
                  ", not a whole number from 0");
    }
    const std::size_t count_max = field_ == "shape" ? kSafetensorsRankMax : 2;
    if (list_->size() == count_max) {
      return fail(field_ + " has more than " + std::to_string(count_max) + " numbers");
    }
    list_->push_back(*value);
    return true;
  }
  bool on_string(std::string_view text) override {
    if (depth_ == 2 && in_metadata_) {
      header_.metadata.emplace_back(field_, text);
      return true;
    }
    if (depth_ == 2 && field_ == "dtype") {
      entry_.dtype = text;
      return true;
    }
    return other_value("a string");
  }
  bool on_begin_object() override {
    if (depth_ == 0 || (depth_ == 1 && in_metadata_)) return open();
    if (depth_ == 1) {
      entry_ = Entry{};
      entry_.name = tensor_;
      return open();
    }
    return other_value("an object") && open();
  }
  bool on_key(std::string_view key) override {
    if (depth_ == 1) {
      in_metadata_ = key == "__metadata__";
      tensor_ = key;
      if (names_.size() == kSafetensorsTensorsMax) {
        return fail("more than " + std::to_string(kSafetensorsTensorsMax) + " tensors");
      }
      return names_.emplace(key).second || fail("the name appears twice");
    }
    if (depth_ != 2) return true;  // inside a field we do not know
    field_ = key;
    return fields_.emplace(key).second || fail("field '" + field_ + "' appears twice");
  }
  bool on_end_object() override {
    --depth_;
    if (depth_ != 1) return true;
    fields_.clear();
    if (!in_metadata_) entries_.push_back(std::move(entry_));
    return true;
  }
  bool on_begin_array() override {
    if (depth_ == 2 && !in_metadata_ && (field_ == "shape" || field_ == "data_offsets")) {
      auto& list = field_ == "shape" ? entry_.shape : entry_.offsets;
      list_ = &list.emplace();
      return open();
    }
    return other_value("an array") && open();
  }
  bool on_end_array() override {
    --depth_;
    list_ = nullptr;
    return true;
  }

  const std::string& problem() const { return problem_; }
  const std::string& problem_tensor() const { return tensor_; }
  std::vector<Entry>& entries() { return entries_; }
  SafetensorsHeader& header() { return header_; }

 private:
  bool open() {
    ++depth_;
    return true;
  }

  // A value where this file has no use for one: fine inside unknown fields, else a problem.
  bool other_value(std::string_view what) {
    if (depth_ == 0) return fail("the header is " + std::string(what) + ", not an object");
    if (depth_ == 1) return fail("the entry is " + std::string(what) + ", not an object");
    const bool known = field_ == "dtype" || field_ == "shape" || field_ == "data_offsets";
    if (in_metadata_ || (known && (depth_ == 2 || list_ != nullptr))) {
      return fail("'" + field_ + "' is or holds " + std::string(what) + ", which cannot be there");
    }
    return true;
  }

  bool fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }

  int depth_ = 0;
  bool in_metadata_ = false;
  std::string tensor_;
  std::string field_;
  std::vector<std::uint64_t>* list_ = nullptr;
  Entry entry_;
  std::vector<Entry> entries_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> fields_;
  SafetensorsHeader header_;
  std::string problem_;
};

Error damaged(std::string_view file, std::string_view tensor, std::string_view problem) {
  std::string message = "safetensors file '" + std::string(file) + "'";
  if (!tensor.empty()) message += ", tensor '" + std::string(tensor.substr(0, 200)) + "'";
  return {ErrorCode::kArtifactIntegrity,
          message + ": " + std::string(problem) + "; the file is damaged, get it again"};
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (const std::uint64_t dimension : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(dimension);
  }
  return text + "]";
}

// Checks one entry by itself: fields, dtype, and shape against byte range.
Result<TensorRange> check_entry(Entry& entry, std::string_view file) {
  if (!entry.dtype) return damaged(file, entry.name, "field 'dtype' is missing");
  if (!entry.shape) return damaged(file, entry.name, "field 'shape' is missing");
  if (!entry.offsets) return damaged(file, entry.name, "field 'data_offsets' is missing");
  if (entry.offsets->size() != 2) {
    return damaged(file, entry.name, "field 'data_offsets' is not two numbers");
  }
  const auto dtype = model_dtype(*entry.dtype);
  if (!dtype && std::ranges::find(kOtherDtypes, *entry.dtype) != kOtherDtypes.end()) {
    return Error{ErrorCode::kUnsupportedModel,
                 "safetensors file '" + std::string(file) + "', tensor '" + entry.name +
                     "': dtype " + *entry.dtype +
                     " is not one of F16, BF16, F32; convert the checkpoint"};
  }
  if (!dtype) {
    return damaged(file, entry.name, "unknown dtype '" + entry.dtype->substr(0, 32) + "'");
  }
  TensorRange range{std::move(entry.name), *dtype, {}, (*entry.offsets)[0], (*entry.offsets)[1]};
  if (range.begin > range.end) {
    return damaged(file, range.name,
                   "its data ends at " + std::to_string(range.end) + " before it begins at " +
                       std::to_string(range.begin));
  }
  std::optional<std::uint64_t> bytes = tensor::dtype_bytes(*dtype);
  for (const std::uint64_t dimension : *entry.shape) {
    if (bytes) bytes = multiply(*bytes, dimension);
    if (dimension > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      bytes = std::nullopt;
    }
    range.shape.push_back(static_cast<std::int64_t>(dimension));
  }
  if (!bytes) {
    return damaged(file, range.name, "shape " + shape_text(*entry.shape) + " overflows");
  }
  if (*bytes != range.end - range.begin) {
    return damaged(file, range.name,
                   "shape " + shape_text(*entry.shape) + " of " + *entry.dtype + " needs " +
                       std::to_string(*bytes) + " bytes, its data_offsets span " +
                       std::to_string(range.end - range.begin));
  }
  return range;
}

// Checks that the ranges, in order, cover the data exactly.
Status check_cover(const std::vector<TensorRange>& tensors, std::string_view file,
                   std::uint64_t data_bytes) {
  std::uint64_t covered = 0;
  for (const TensorRange& range : tensors) {
    if (range.begin < covered) {
      return damaged(file, range.name,
                     "its data begins at " + std::to_string(range.begin) +
                         ", inside another tensor that ends at " + std::to_string(covered));
    }
    if (range.begin > covered) {
      return damaged(file, range.name,
                     "a hole before its data: bytes " + std::to_string(covered) + " to " +
                         std::to_string(range.begin));
    }
    covered = range.end;
    if (covered > data_bytes) {
      return damaged(file, range.name,
                     "its data ends at " + std::to_string(covered) + ", but the file has only " +
                         std::to_string(data_bytes) + " bytes of data");
    }
  }
  if (covered != data_bytes) {
    return damaged(file, "",
                   "its tensors end at " + std::to_string(covered) + ", but the file has " +
                       std::to_string(data_bytes) + " bytes of data");
  }
  return {};
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::string_view file,
                                                   std::uint64_t data_bytes) {
  const std::size_t first = json.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || json[first] != '{') {
    return damaged(file, "", "the header is not a JSON object");
  }
  HeaderReader reader;
  const base::JsonLimits limits{.bytes_max = static_cast<std::size_t>(kSafetensorsHeaderBytesMax),
                                .depth_max = 32};
  const Status parsed = base::parse_json_events(json, limits, reader);
  if (!reader.problem().empty()) return damaged(file, reader.problem_tensor(), reader.problem());
  if (!parsed.ok()) return damaged(file, "", "header: " + parsed.error().message);

  SafetensorsHeader header = std::move(reader.header());
  header.tensors.reserve(reader.entries().size());
  for (Entry& entry : reader.entries()) {
    LAYARD_ASSIGN(TensorRange range, check_entry(entry, file));
    header.tensors.push_back(std::move(range));
  }
  std::ranges::sort(header.tensors, [](const TensorRange& a, const TensorRange& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  LAYARD_TRY(check_cover(header.tensors, file, data_bytes));
  return header;
}

}  // namespace layard::checkpoint
