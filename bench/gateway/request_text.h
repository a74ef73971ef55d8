/// The chat requests that the generator sends.
#pragma once

#include <string>

namespace layard::bench {

/// What a user asks first; no two numbers give the same text, and all have about as many tokens.
std::string user_text(int number);

struct RequestForm {
  std::string path = "/v1/chat/completions";
  std::string model = "bench";
  std::string key = {};            ///< sent as a bearer token unless empty
  std::size_t system_bytes = 512;  ///< of a system message before the user's; 0: none
  bool streamed = false;
};

/// A whole HTTP request with `text` as the user's message.
std::string chat_request(const RequestForm& form, const std::string& text);

}  // namespace layard::bench
