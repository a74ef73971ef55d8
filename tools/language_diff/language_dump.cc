// Routes JSON Lines {"state": ...} from standard input by language, for diff.py beside it.
// usage: language_dump < STATES > CHOICES
//        language_dump --tables
// Each line gives {"target", "model_routing", "reason", "detection"}; --tables prints the word
// lists and the scripts of all code points instead.
#include <iostream>
#include <string>

#include "base/json.h"
#include "decision/codec.h"
#include "language/language.h"
#include "language/scripts.h"
#include "language/words.h"

namespace {

using layard::base::JsonValue;

JsonValue text(std::string_view value) { return JsonValue::string(std::string(value)); }

std::string_view target_name(layard::language::Target target) {
  switch (target) {
    case layard::language::Target::kEnglish:
      return "english";
    case layard::language::Target::kMultilingual:
      return "multilingual";
    case layard::language::Target::kDefault:
      break;
  }
  return "default";
}

layard::Result<std::string> route(const std::string& line) {
  LAYARD_ASSIGN(const JsonValue root, layard::base::parse_json(line, {}));
  const JsonValue* value = root.find("state");
  if (value == nullptr) {
    return layard::Error{layard::ErrorCode::kInvalidRequest, "a line without state"};
  }
  LAYARD_ASSIGN(const layard::State state, layard::decision::read_state(*value));
  LAYARD_ASSIGN(const layard::language::Detection detection, layard::language::detect(state));
  const auto choice = layard::language::choose(detection, "english");
  JsonValue out = JsonValue::object();
  out.set("target", text(target_name(choice.target)));
  out.set("model_routing", text(to_string(choice.routing)));
  out.set("reason", text(choice.reason));
  out.set("detection", detection_json(detection));
  return write_json(out, layard::base::JsonStyle::kCompact);
}

std::string tables() {
  JsonValue words = JsonValue::object();
  for (const auto& list : layard::language::word_lists())
    words.set(list.language, text(list.words));
  // [first, last, script] of every run of code points of one listed script.
  JsonValue blocks = JsonValue::array();
  std::string foreign;
  for (char32_t first = 0; first < 0x110000;) {
    const auto script = layard::language::block_script(first);
    char32_t last = first;
    while (last + 1 < 0x110000 && layard::language::block_script(last + 1) == script) ++last;
    if (script.has_value()) {
      JsonValue block = JsonValue::array();
      block.push_back(JsonValue::integer(first));
      block.push_back(JsonValue::integer(last));
      block.push_back(text(layard::language::script_name(*script)));
      blocks.push_back(std::move(block));
    }
    first = last + 1;
  }
  JsonValue letters = JsonValue::array();
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (layard::language::is_foreign_letter(c)) letters.push_back(JsonValue::integer(c));
  }
  JsonValue out = JsonValue::object();
  out.set("words", std::move(words));
  out.set("blocks", std::move(blocks));
  out.set("foreign_letters", std::move(letters));
  return write_json(out, layard::base::JsonStyle::kCompact);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--tables") {
    std::cout << tables() << "\n";
    return 0;
  }
  if (argc != 1) {
    std::cerr << "usage: language_dump [--tables] < STATES > CHOICES\n";
    return 2;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto routed = route(line);
    if (!routed.ok()) {
      std::cerr << layard::error_type_name(routed.error().code) << ": " << routed.error().message
                << "\n";
      return 2;
    }
    std::cout << *routed << "\n";
  }
  return 0;
}
