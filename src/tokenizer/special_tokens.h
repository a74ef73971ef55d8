/// The tokens with a role in a prompt.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "layard/error.h"
#include "tokenizer/tokenizer.h"

namespace layard::tokenizer {

/// Roles named by tokenizer_config.json, as ids.
struct SpecialTokens {
  static constexpr std::int32_t kNone = -1;

  std::int32_t cls_id = kNone;
  std::int32_t sep_id = kNone;
  std::int32_t mask_id = kNone;
  std::int32_t pad_id = 0;      // 0 when the file names none: nothing here depends on padding
  std::int32_t unk_id = kNone;  // kNone when the file names none
  std::string mask_text;

  /// `config`: the text of tokenizer_config.json. A role is a string or an object with "content";
  /// other fields (tokenizer_class, extra_special_tokens in any form, ...) do not matter.
  /// Errors: kArtifactIntegrity for what is no JSON object; kUnsupportedModel naming a role of cls,
  /// sep and mask that is absent, or a role whose token the tokenizer lacks.
  /// Source: laya 0.4.15 (AutoTokenizer roles).
  static Result<SpecialTokens> from_config(std::string_view config, const Tokenizer& tokenizer);
};

}  // namespace layard::tokenizer
