#include "gateway/api_error.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/utf8.h"
#include "gateway/sse_events.h"

namespace layard::gateway {
namespace {

constexpr Api kApis[] = {Api::kChatCompletions, Api::kCompletions, Api::kResponses,
                         Api::kEmbeddings,      Api::kMessages,    Api::kCountTokens};

TEST(ApiError, FormOfEachApi) {
  const std::string openai =
      R"({"error":{"message":"no \"x\"","type":"not_found_error","param":"model",)"
      R"("code":"model_not_found"}})";
  const std::string anthropic =
      R"({"type":"error","error":{"type":"not_found_error","message":"no \"x\""}})";
  for (const Api api : kApis) {
    const auto response =
        api_error_response(api, 404, "not_found_error", "no \"x\"", "model", "model_not_found");
    const bool is_anthropic = api == Api::kMessages || api == Api::kCountTokens;
    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(response.body, is_anthropic ? anthropic : openai);
    EXPECT_EQ(response.fields.value_or_empty("content-type"), "application/json");
  }
  EXPECT_EQ(api_error_response(Api::kCompletions, 502, "", "m").body,
            R"({"error":{"message":"m","type":"server_error","param":null,"code":null}})");
  EXPECT_EQ(api_error_response(Api::kCompletions, 501, "not_implemented", "m").body,
            R"({"error":{"message":"m","type":"not_implemented","param":null,"code":null}})");
}

struct TypeRow {
  int status;
  std::string_view openai;
  std::string_view anthropic;
};

TEST(ApiError, TypesByStatus) {
  constexpr TypeRow kRows[] = {
      {400, "invalid_request_error", "invalid_request_error"},
      {401, "authentication_error", "authentication_error"},
      {403, "permission_error", "permission_error"},
      {404, "not_found_error", "not_found_error"},
      {405, "invalid_request_error", "invalid_request_error"},
      {413, "invalid_request_error", "request_too_large"},
      {422, "invalid_request_error", "invalid_request_error"},
      {429, "rate_limit_error", "rate_limit_error"},
      {500, "server_error", "api_error"},
      {502, "server_error", "api_error"},
      {503, "server_error", "overloaded_error"},
      {504, "server_error", "api_error"},
      {529, "server_error", "overloaded_error"},
  };
  for (const TypeRow& row : kRows) {
    EXPECT_EQ(openai_error_type(row.status), row.openai) << row.status;
    EXPECT_EQ(anthropic_error_type(row.status), row.anthropic) << row.status;
    EXPECT_NE(api_error_response(Api::kMessages, row.status, "x", "m").body.find(row.anthropic),
              std::string::npos);
  }
}

TEST(ApiError, EventOfEachApi) {
  const auto check = [](Api api, std::string_view expected) {
    EXPECT_EQ(api_error_event(api, 502, "", "gone\n", "device_lost"), expected);
  };
  for (const Api api : {Api::kChatCompletions, Api::kCompletions}) {
    check(api,
          "data: {\"error\":{\"message\":\"gone\\n\",\"type\":\"server_error\",\"param\":null,"
          "\"code\":\"device_lost\"}}\n\n");
  }
  check(Api::kMessages,
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\","
        "\"message\":\"gone\\n\"}}\n\n");
  check(Api::kResponses,
        "event: error\ndata: {\"type\":\"error\",\"code\":\"device_lost\",\"message\":\"gone\\n\","
        "\"param\":null,\"sequence_number\":0}\n\n");
  EXPECT_NE(api_error_event(Api::kResponses, 502, "", "m").find("\"code\":\"server_error\""),
            std::string::npos);
}

TEST(ApiError, EventsReadAsErrorsAndNotAsAnEnd) {
  for (const Api api : kApis) {
    SseWatch watch;
    watch.feed(api_error_event(api, 502, "", "line one\r\n\r\ndata: [DONE]\n\n"));
    EXPECT_TRUE(watch.saw_error() && watch.at_boundary());
    EXPECT_FALSE(watch.saw_end() || watch.saw_token());
    EXPECT_EQ(watch.events(), 1U);
  }
}

TEST(ApiError, MessagesAreBoundedAndValid) {
  const auto message = [](const std::string& text) {
    const auto response = api_error_response(Api::kMessages, 400, "", text);
    const auto json = base::parse_json(response.body, base::JsonLimits());
    return json.ok() ? json->find("error")->find("message")->text() : "no JSON";
  };
  EXPECT_EQ(message(std::string(2000, 'x')), std::string(2000, 'x'));
  std::string cut(1997, 'x');
  cut += "...";
  EXPECT_EQ(message(std::string(2001, 'x')), cut);
  std::string euros = "x";
  while (euros.size() < 3000) euros += "\xE2\x82\xAC";
  EXPECT_LE(message(euros).size(), 2000U);
  EXPECT_EQ(message(euros).find("\xEF\xBF\xBD"), std::string::npos);
  EXPECT_EQ(message("a\xFF"), "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace layard::gateway
