#include "server/assets.h"

#include <array>
#include <utility>

#include "base/checks.h"
#include "layard/version.h"

namespace layard::server {
namespace {

const Asset* find_asset(std::string_view name) {
  for (const Asset& asset : assets()) {
    if (asset.name == name) return &asset;
  }
  return nullptr;
}

std::string make_openapi() {
  constexpr std::string_view kMark = "@VERSION@";
  const Asset* asset = find_asset("openapi.json");
  LAYARD_CHECK(asset != nullptr);
  std::string text(asset->content);
  const std::size_t at = text.find(kMark);
  LAYARD_CHECK(at != std::string::npos);
  return text.replace(at, kMark.size(), version());
}

}  // namespace

const Asset* find_page_file(std::string_view path) {
  if (!path.starts_with('/')) return nullptr;
  return find_asset(path == "/" ? "web/index.html" : "web" + std::string(path));
}

std::string_view content_type_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTypes = {{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".json", "application/json"},
  }};
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

const std::string& openapi_json() {
  static const std::string json = make_openapi();
  return json;
}

}  // namespace layard::server
