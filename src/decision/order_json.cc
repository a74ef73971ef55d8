#include "decision/order_json.h"

#include <string>
#include <string_view>
#include <utility>

#include "decision/json_members.h"
#include "decision/python_text.h"

namespace layard::decision {
namespace {

using base::JsonValue;

Error invalid(std::string message) { return {ErrorCode::kInvalidRequest, std::move(message)}; }

JsonValue label_json(const Label& label) {
  auto value = base::parse_json(label.json, base::JsonLimits{});
  return value.ok() ? *std::move(value) : JsonValue::string(label.json);
}

JsonValue to_json(const OrderStability& stability) {
  JsonValue out = JsonValue::object();
  out.set("orders", JsonValue::integer(stability.orders));
  if (stability.choices.empty()) return out;
  out.set("agreement", JsonValue::real(stability.agreement));
  out.set("spread", JsonValue::real(stability.spread));
  JsonValue choices = JsonValue::array();
  for (const Label& choice : stability.choices) choices.push_back(label_json(choice));
  out.set("choices", std::move(choices));
  return out;
}

Result<OrderStability> read_one(const std::string& question, const JsonValue& value) {
  MemberReader reader("stability/" + question, value);
  OrderStability out;
  out.question = question;
  out.orders = reader.integer("orders");
  if (reader.has("choices")) {
    out.agreement = reader.number("agreement");
    out.spread = reader.number("spread");
    for (const JsonValue& choice :
         reader.member("choices", &JsonValue::is_array, "an array").items()) {
      if (choice.is_array() || choice.is_object()) reader.note("/choices", "an array of labels");
      out.choices.push_back(label_of(choice));
    }
  }
  LAYARD_TRY(reader.status());
  return out;
}

}  // namespace

Label label_of(const JsonValue& value) {
  const std::string json = base::write_json(value, base::JsonStyle::kCompact);
  return {python_str(value), value.is_string() ? value.text() : json, json};
}

Result<std::optional<int>> read_orders(const JsonValue& request) {
  const auto given = [&](std::string_view key) {
    const JsonValue* value = request.find(key);
    return value != nullptr && !value->is_null() ? value : nullptr;
  };
  const JsonValue* orders = given("orders");
  const JsonValue* stability = given("stability");
  if (orders != nullptr && stability != nullptr) {
    return invalid("'stability' is short for 'orders' 2; send only one of them");
  }
  if (stability != nullptr) {
    if (stability->is_bool()) return std::optional<int>(stability->as_bool() ? 2 : 1);
    return invalid("'stability' must be true or false, got " + json_shown(*stability));
  }
  if (orders == nullptr) return std::optional<int>();
  const auto count = orders->is_integer() ? orders->as_int64() : std::nullopt;
  if (count.has_value() && *count >= 1 && *count <= kOrdersMax) {
    return std::optional<int>(static_cast<int>(*count));
  }
  return invalid("'orders' must be a whole number from 1 to " + std::to_string(kOrdersMax) +
                 ", got " + json_shown(*orders));
}

JsonValue stability_to_json(const std::vector<OrderStability>& stability) {
  JsonValue out = JsonValue::object();
  for (const OrderStability& question : stability) out.set(question.question, to_json(question));
  return out;
}

Result<std::vector<OrderStability>> read_stability(const JsonValue& value) {
  if (!value.is_object()) return invalid("stability must be an object");
  std::vector<OrderStability> out;
  for (const auto& [question, members] : value.members()) {
    LAYARD_ASSIGN(OrderStability one, read_one(question, members));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace layard::decision
