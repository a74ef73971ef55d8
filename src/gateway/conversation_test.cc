#include "gateway/conversation.h"

#include <gtest/gtest.h>

#include <set>
#include <unordered_set>

namespace layard::gateway {
namespace {

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 16) {
    ConversationKey part;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(i), 16, part.bytes.begin());
    text += part.hex();
  }
  return text;
}

// Source: RFC 4231, test cases 1, 2, 4 and 6.
TEST(Conversation, HmacIsThatOfTheRfc) {
  const auto check = [](const std::vector<std::uint8_t>& key,
                        const std::vector<std::string_view>& parts, std::string_view expected) {
    EXPECT_EQ(hex(hmac_sha256(key, parts)), expected);
  };
  check(std::vector<std::uint8_t>(20, 0x0B), {"Hi There"},
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  check({'J', 'e', 'f', 'e'}, {"what do ya want", " ", "for nothing?"},
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  std::vector<std::uint8_t> counted;
  for (std::uint8_t i = 1; i <= 25; ++i) counted.push_back(i);
  check(counted, {std::string(50, '\xCD')},
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  check(std::vector<std::uint8_t>(131, 0xAA),
        {"Test Using Larger Than Block-Size Key - Hash Key First"},
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

ConversationHasher hasher(std::uint8_t first) {
  ConversationHasher::Secret secret{};
  secret[0] = first;
  return ConversationHasher(secret);
}

ChatRequest request() {
  ChatRequest out;
  out.model = "m";
  out.system = "s";
  out.tools = {"a", "b"};
  out.first_user = "u";
  return out;
}

TEST(Conversation, EveryPartCounts) {
  std::set<std::string> keys;
  const auto add = [&](std::string_view tenant, const ChatRequest& asked) {
    keys.insert(hasher(1).of_request(tenant, asked).hex());
  };
  add("t", request());
  add("t2", request());
  for (auto member : {&ChatRequest::model, &ChatRequest::system, &ChatRequest::first_user}) {
    ChatRequest other = request();
    other.*member += "x";
    add("t", other);
  }
  ChatRequest other = request();
  other.tools = {"a"};
  add("t", other);
  other.tools = {"ab"};
  add("t", other);
  other.tools = {};
  add("t", other);
  // Parts that run into one another when they are only put together.
  other = request();
  other.model = "ms";
  other.system = "";
  add("t", other);
  keys.insert(hasher(2).of_request("t", request()).hex());
  keys.insert(hasher(1).of_session("t", "x", "u").hex());
  keys.insert(hasher(1).of_session("t2", "x", "u").hex());
  keys.insert(hasher(1).of_session("t", "y", "u").hex());
  keys.insert(hasher(1).of_session("t", "x", "v").hex());
  EXPECT_EQ(keys.size(), 14U);
}

TEST(Conversation, OtherMembersDoNot) {
  ChatRequest later = request();
  later.api = Api::kMessages;
  later.text = "another";
  later.turns = 7;
  later.stream = true;
  later.output_tokens_max = 5;
  EXPECT_EQ(hasher(1).of_request("t", later), hasher(1).of_request("t", request()));
}

// The first turn and a later one, as they are sent.
TEST(Conversation, LaterTurnsHaveTheKeyOfTheFirst) {
  const auto key = [](std::string_view messages) {
    const std::string body = R"({"model":"m","messages":[{"role":"system","content":"s"},)"
                             R"({"role":"user","content":"write a sort"})" +
                             std::string(messages) + R"(],"tools":[]})";
    const auto asked = read_chat_request(Api::kChatCompletions, body, {});
    return hasher(1).of_request("t", *asked);
  };
  EXPECT_EQ(key(""), key(R"(,{"role":"assistant","content":"done"},
                            {"role":"user","content":"commit it"})"));
  EXPECT_NE(key(""), key(R"(,{"role":"system","content":"another"})"));
}

TEST(Conversation, SessionHeaders) {
  const std::vector<std::string> headers = {"x-session-id", "X-Conversation-Id"};
  http::Fields fields;
  const auto key = [&] { return hasher(1).key("t", request(), fields, headers); };
  EXPECT_EQ(key(), hasher(1).of_request("t", request()));
  fields.add("X-Session-Id", "");
  EXPECT_EQ(key(), hasher(1).of_request("t", request()));
  fields.add("x-conversation-id", "7");
  EXPECT_EQ(key(), hasher(1).of_session("t", "x-CONVERSATION-id", "7"));
  fields.set("x-session-id", "8");
  EXPECT_EQ(key(), hasher(1).of_session("t", "x-session-id", "8"));
}

TEST(Conversation, HexAndHash) {
  ConversationKey key;
  key.bytes[0] = 0xAB;
  key.bytes[15] = 0x01;
  EXPECT_EQ(key.hex(), "ab000000000000000000000000000001");
  EXPECT_EQ(std::hash<ConversationKey>()(key), 0xABU);
  std::unordered_set<ConversationKey> keys = {key, key, ConversationKey()};
  EXPECT_EQ(keys.size(), 2U);
}

}  // namespace
}  // namespace layard::gateway
