// Any bytes as a tokenizer.json: refused with a typed error that names the file, or a tokenizer
// that encodes and decodes whatever it is given. Texts are short and files at most 64 KiB, so that
// a run takes milliseconds; what long ones cost is a matter of unit tests.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tokenizer/special_tokens.h"
#include "tokenizer_fuzz_support.h"

namespace {

constexpr std::size_t kFileBytesMax = 65536;
constexpr std::size_t kOwnTextBytes = 256;
constexpr std::string_view kTexts[] = {
    "",
    " ",
    "ab ab  abc\n",
    "I'm 12 \xC3\xA9t\xC3\xA9, \xE4\xB8\xAD\xE6\x96\x87! [MASK]<s>",
    "e\xCC\x81 \xEF\xB7\xBA \xF0\x9F\x98\x80\xE2\x96\x81x\tA",
    "\xFF\xC3(\xE2\x96",
};
constexpr std::string_view kConfig =
    R"({"cls_token":"a","sep_token":{"content":"b"},"mask_token":"c","pad_token":"ab"})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace layard;
  if (size > kFileBytesMax) return 0;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto loaded = tokenizer::Tokenizer::from_json(json);
  const auto refused = [](const Error& error) {
    fuzz::require(error.code == ErrorCode::kArtifactIntegrity ||
                  error.code == ErrorCode::kUnsupportedModel);
    return error.message.starts_with("tokenizer.json: ") ||
           error.message.starts_with("tokenizer_config.json: ");
  };
  if (!loaded.ok()) {
    fuzz::require(refused(loaded.error()));
    return 0;
  }
  tokenizer::IdCache cache(8);
  for (const std::string_view text : kTexts) fuzz::encode_and_decode(**loaded, text, cache);
  // The file's own text has its tokens in it.
  fuzz::encode_and_decode(**loaded, json.substr(0, kOwnTextBytes), cache);
  fuzz::encode_and_decode(**loaded, json.substr(size - std::min(size, kOwnTextBytes)), cache);
  const auto special = tokenizer::SpecialTokens::from_config(kConfig, **loaded);
  if (!special.ok()) fuzz::require(!special.error().message.empty());
  return 0;
}
