#include "http/head_fields.h"

#include <gtest/gtest.h>

#include <string>

namespace layard::http {
namespace {

std::optional<RefusalReason> reason_of(std::string_view rest, std::size_t fields_max = 3) {
  HeadLimits limits;
  limits.fields_max = fields_max;
  Fields fields;
  const auto bad = read_fields(rest, limits, fields);
  if (!bad) return std::nullopt;
  return bad->reason;
}

TEST(HttpHeadFields, LinesAreTakenOneByOne) {
  std::string_view rest = "a\r\n\r\nb";
  EXPECT_EQ(take_line(rest), "a");
  EXPECT_EQ(take_line(rest), "");
  EXPECT_EQ(take_line(rest), std::nullopt);
  EXPECT_EQ(rest, "b");
}

TEST(HttpHeadFields, ReadsNamesAndValuesInOrder) {
  Fields fields;
  EXPECT_FALSE(read_fields("A: 1\r\nb:\t2 \r\nC:\r\n\r\n", {}, fields));
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields.all()[0].value, "1");
  EXPECT_EQ(fields.all()[1].name, "b");
  EXPECT_EQ(fields.all()[1].value, "2");
  EXPECT_EQ(fields.all()[2].value, "");
}

TEST(HttpHeadFields, RefusesOtherForms) {
  EXPECT_EQ(reason_of("A: 1\r\n b\r\n\r\n"), RefusalReason::kField);
  EXPECT_EQ(reason_of("A : 1\r\n\r\n"), RefusalReason::kField);
  EXPECT_EQ(reason_of("A\r\n\r\n"), RefusalReason::kField);
  EXPECT_EQ(reason_of(": 1\r\n\r\n"), RefusalReason::kField);
  EXPECT_EQ(reason_of("A: 1\r\n"), RefusalReason::kField);
  EXPECT_EQ(reason_of("A: 1\r\n\r\nx"), RefusalReason::kField);
  EXPECT_EQ(reason_of("A: x\ny\r\n\r\n"), RefusalReason::kControlByte);
  EXPECT_EQ(reason_of("A: x\ry\r\n\r\n"), RefusalReason::kControlByte);
  EXPECT_EQ(reason_of("A: 1\r\nB: 1\r\nC: 1\r\n\r\n"), std::nullopt);
  EXPECT_EQ(reason_of("A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\n\r\n"), RefusalReason::kFieldCount);
}

std::string framing_of(const Fields& fields, int minor = 1) {
  const auto framing = read_framing(fields, minor);
  if (const auto* bad = std::get_if<Refusal>(&framing))
    return std::string(refusal_name(bad->reason));
  const auto& good = std::get<Framing>(framing);
  if (good.framing == BodyFraming::kChunked) return "chunked";
  if (good.framing == BodyFraming::kNone) return "none";
  return std::to_string(good.content_length);
}

Fields fields_of(std::initializer_list<Field> list) {
  Fields fields;
  for (const auto& field : list) fields.add(field.name, field.value);
  return fields;
}

TEST(HttpHeadFields, Framing) {
  EXPECT_EQ(framing_of({}), "none");
  EXPECT_EQ(framing_of(fields_of({{"content-length", "17"}})), "17");
  EXPECT_EQ(framing_of(fields_of({{"Content-Length", "9223372036854775807"}})),
            "9223372036854775807");
  EXPECT_EQ(framing_of(fields_of({{"Transfer-Encoding", "Chunked"}})), "chunked");
  for (const char* bad : {"", "+1", "-1", "1,1", "0x1", "1 1", "9223372036854775808"}) {
    EXPECT_EQ(framing_of(fields_of({{"Content-Length", bad}})), "content_length") << bad;
  }
  EXPECT_EQ(framing_of(fields_of({{"Content-Length", "1"}, {"Content-Length", "1"}})),
            "content_length");
  EXPECT_EQ(framing_of(fields_of({{"Transfer-Encoding", "chunked"}, {"Content-Length", "1"}})),
            "transfer_encoding");
  EXPECT_EQ(framing_of(fields_of({{"Transfer-Encoding", "gzip, chunked"}})), "transfer_encoding");
  EXPECT_EQ(framing_of(fields_of({{"Transfer-Encoding", "chunked"}}), 0), "transfer_encoding");
  EXPECT_EQ(
      framing_of(fields_of({{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}})),
      "transfer_encoding");
}

TEST(HttpHeadFields, Connections) {
  EXPECT_TRUE(keeps_connection({}, 1));
  EXPECT_FALSE(keeps_connection({}, 0));
  EXPECT_TRUE(keeps_connection(fields_of({{"Connection", "Keep-Alive"}}), 0));
  EXPECT_FALSE(keeps_connection(fields_of({{"Connection", "x, close"}}), 1));
  EXPECT_FALSE(keeps_connection(fields_of({{"Connection", "keep-alive, close"}}), 0));
  EXPECT_FALSE(check_connection(fields_of({{"Connection", "a, b"}})));
  EXPECT_TRUE(check_connection(fields_of({{"Connection", "a b"}})));
}

}  // namespace
}  // namespace layard::http
