/// Small tokenizer.json texts for tests, made of parts.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tokenizer/tokenizer.h"

namespace layard::tokenizer::testing {

/// One token a letter, two merges.
inline constexpr std::string_view kSmallBpe =
    R"({"type":"BPE","unk_token":"?","vocab":{"?":0,"a":1,"b":2,"c":3," ":4,"ab":5,"abc":6},)"
    R"("merges":[["a","b"],["ab","c"]]})";

/// JSON texts of the fields of a tokenizer.json.
struct Parts {
  std::string model = std::string(kSmallBpe);
  std::string added_tokens = "[]";
  std::string normalizer = "null";
  std::string pre_tokenizer = "null";
  std::string decoder = "null";
};

inline std::string to_json(const Parts& parts) {
  return R"({"version":"1.0","truncation":{"max_length":2},"added_tokens":)" + parts.added_tokens +
         R"(,"normalizer":)" + parts.normalizer + R"(,"pre_tokenizer":)" + parts.pre_tokenizer +
         R"(,"post_processor":{"type":"Unknown"},"decoder":)" + parts.decoder + R"(,"model":)" +
         parts.model + "}";
}

/// The tokenizer, or null with a failure of the test.
inline std::shared_ptr<const Tokenizer> load(const std::string& json) {
  auto tokenizer = Tokenizer::from_json(json);
  EXPECT_TRUE(tokenizer.ok()) << (tokenizer.ok() ? "" : tokenizer.error().message);
  return tokenizer.ok() ? *tokenizer : nullptr;
}

inline std::vector<std::int32_t> encode(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> ids;
  tokenizer.encode(text, ids);
  return ids;
}

/// The error of a file must have `code` and name `part` in its text.
inline void check_refused(const std::string& json, ErrorCode code, std::string_view part) {
  const auto tokenizer = Tokenizer::from_json(json);
  ASSERT_FALSE(tokenizer.ok()) << json;
  EXPECT_EQ(tokenizer.error().code, code) << tokenizer.error().message;
  EXPECT_NE(tokenizer.error().message.find(part), std::string::npos) << tokenizer.error().message;
}

/// The texts that `pieces` holds; added tokens as `#id`.
inline std::vector<std::string> texts_of(const Pieces& pieces) {
  std::vector<std::string> texts;
  for (const Piece& piece : pieces.list()) {
    texts.push_back(piece.is_text() ? std::string(pieces.text_of(piece))
                                    : "#" + std::to_string(piece.id));
  }
  return texts;
}

inline base::JsonValue parse(std::string_view json) {
  auto value = base::parse_json(json, base::JsonLimits());
  EXPECT_TRUE(value.ok()) << json;
  return value.ok() ? *std::move(value) : base::JsonValue();
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream content;
  content << file.rdbuf();
  return std::move(content).str();
}

/// One line of a vectors file.
struct Vector {
  std::string tokenizer;  // where the file names one
  std::string text;
  std::vector<std::int32_t> ids;
  std::string decoded;  // where the file has it
};

inline std::vector<Vector> read_vectors(const std::filesystem::path& path) {
  std::vector<Vector> vectors;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    const base::JsonValue row = parse(line);
    Vector vector;
    if (const auto* name = row.find("tokenizer")) vector.tokenizer = name->text();
    if (const auto* decoded = row.find("decoded")) vector.decoded = decoded->text();
    vector.text = row.find("text")->text();
    for (const base::JsonValue& id : row.find("ids")->items()) {
      vector.ids.push_back(static_cast<std::int32_t>(*id.as_int64()));
    }
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

}  // namespace layard::tokenizer::testing
