#include "request_text.h"

#include <array>

namespace layard::bench {
namespace {

constexpr std::array<const char*, 16> kWords = {
    "slice", "vector", "list",  "table",  "queue", "tree", "graph", "string",
    "file",  "matrix", "stack", "buffer", "map",   "set",  "array", "heap"};

}  // namespace

std::string user_text(int number) {
  std::string text = "Write a Rust function that sums a";
  // Digits of the number in base 16, as words: five of them tell a million texts apart.
  for (int i = 0; i < 5; ++i) {
    text += std::string(" ") + kWords[static_cast<std::size_t>(number) % kWords.size()];
    number /= static_cast<int>(kWords.size());
  }
  return text + ".";
}

std::string chat_request(const RequestForm& form, const std::string& text) {
  std::string body = "{\"model\":\"" + form.model + "\",\"messages\":[";
  if (form.system_bytes > 0) {
    std::string system;
    while (system.size() < form.system_bytes) system += "Answer as an engineer would. ";
    system.resize(form.system_bytes);
    body += "{\"role\":\"system\",\"content\":\"" + system + "\"},";
  }
  body += "{\"role\":\"user\",\"content\":\"" + text + "\"}]";
  body += form.streamed ? ",\"stream\":true}" : "}";
  std::string request =
      "POST " + form.path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  if (!form.key.empty()) request += "Authorization: Bearer " + form.key + "\r\n";
  return request + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace layard::bench
