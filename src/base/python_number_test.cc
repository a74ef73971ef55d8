#include "base/python_number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace layard::base {
namespace {

TEST(PythonNumber, Repr) {
  const auto check = [](double value, const char* expected) {
    EXPECT_EQ(python_float_repr(value), expected);
  };
  check(0.0, "0.0");
  check(-0.0, "-0.0");
  check(1.0, "1.0");
  check(0.1, "0.1");
  check(1e16, "1e+16");
  check(9999999999999998.0, "9999999999999998.0");
  check(0.0001, "0.0001");
  check(0.00001, "1e-05");
  check(1.5e300, "1.5e+300");
  check(-2.5, "-2.5");
  check(5e-324, "5e-324");
  check(123456.789, "123456.789");
  check(INFINITY, "Infinity");
}

TEST(PythonNumber, Round4) {
  const auto check = [](double value, double expected) {
    EXPECT_EQ(python_round4(value), expected) << value;
  };
  check(0.00005, 0.0001);  // the double is a little above the decimal tie
  check(0.00015, 0.0001);  // and this one a little below
  check(2.67545, 2.6755);
  check(1.00005, 1.0001);
  check(0.03125, 0.0312);  // an exact tie goes to even
  check(0.09375, 0.0938);
  check(-0.00001, -0.0);
  check(1e300, 1e300);
}

TEST(PythonNumber, ParseSaturates) {
  EXPECT_TRUE(std::isinf(parse_json_double("1e999")));
  EXPECT_EQ(parse_json_double("-1e-999"), 0.0);
  EXPECT_TRUE(std::signbit(parse_json_double("-1e-999")));
}

}  // namespace
}  // namespace layard::base
