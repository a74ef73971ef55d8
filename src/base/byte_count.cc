#include "base/byte_count.h"

#include <charconv>
#include <optional>
#include <string>

namespace layard::base {
namespace {

constexpr std::size_t kShownBytes = 40;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct Unit {
  std::uint64_t base = 1000;
  std::size_t power = 0;
};

// `unit` in capitals; nothing where it is none.
std::optional<Unit> find_unit(std::string_view unit) {
  if (unit.empty() || unit == "B") return Unit{};
  constexpr std::string_view kLetters = "KMGTPE";
  const std::size_t letter = kLetters.find(unit.front());
  if (letter == std::string_view::npos) return std::nullopt;
  const std::string_view rest = unit.substr(1);
  if (rest.empty() || rest == "B") return Unit{1000, letter + 1};
  if (rest == "I" || rest == "IB") return Unit{1024, letter + 1};
  return std::nullopt;
}

}  // namespace

Result<std::uint64_t> parse_byte_count(std::string_view text) {
  const std::string shown = "'" + std::string(text.substr(0, kShownBytes)) + "'";
  const Error bad{ErrorCode::kInvalidRequest,
                  shown +
                      " is not a size: write a whole number of bytes, which may end in K, M, G or "
                      "T (20G, 500 MB) or in KiB, MiB, GiB or TiB (powers of 1,024)"};
  const Error too_large{ErrorCode::kInvalidRequest,
                        shown + " is out of range: a size is from 0 to " +
                            std::to_string(UINT64_MAX) + " bytes, which is just under 16EiB"};
  const std::string_view all = trimmed(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  if (error == std::errc::invalid_argument) return bad;
  std::string capitals(trimmed(all.substr(static_cast<std::size_t>(end - all.data()))));
  for (char& c : capitals) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  const auto unit = find_unit(capitals);
  if (!unit) return bad;
  if (error != std::errc()) return too_large;
  for (std::size_t i = 0; i < unit->power; ++i) {
    if (value > UINT64_MAX / unit->base) return too_large;
    value *= unit->base;
  }
  return value;
}

}  // namespace layard::base
