#include "server/assets.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "layard/version.h"
#include "server/routes.h"

namespace layard::server {
namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

TEST(ServerAssets, AreTheFilesOfTheSourceTree) {
  const std::filesystem::path folder = std::filesystem::path(LAYARD_SOURCE_DIR) / "src/server";
  std::size_t files = 1;  // openapi.json
  for (const auto& entry : std::filesystem::directory_iterator(folder / "web")) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(assets().size(), files);
  for (const Asset& asset : assets()) {
    EXPECT_EQ(std::string(asset.content), file_text(folder / asset.name)) << asset.name;
    EXPECT_NE(content_type_of(asset.name), "application/octet-stream") << asset.name;
  }
}

TEST(ServerAssets, PageFiles) {
  ASSERT_NE(find_page_file("/"), nullptr);
  EXPECT_EQ(find_page_file("/")->name, "web/index.html");
  EXPECT_EQ(find_page_file("/index.html"), find_page_file("/"));
  for (const char* path :
       {"", "/openapi.json", "/../openapi.json", "index.html", "/web/index.html", "/nothing.js"}) {
    EXPECT_EQ(find_page_file(path), nullptr) << path;
  }
}

TEST(ServerAssets, ContentTypes) {
  EXPECT_EQ(content_type_of("web/index.html"), "text/html; charset=utf-8");
  EXPECT_EQ(content_type_of("a.js"), "text/javascript; charset=utf-8");
  EXPECT_EQ(content_type_of("a.css"), "text/css; charset=utf-8");
  EXPECT_EQ(content_type_of("a.unknown"), "application/octet-stream");
}

// The description names every route with its method, and nothing else.
TEST(ServerAssets, OpenApiNamesTheRoutes) {
  const base::JsonValue document = base::parse_json(openapi_json(), base::JsonLimits{}).value();
  EXPECT_EQ(document.find("info")->find("version")->text(), version());
  const base::JsonValue& paths = *document.find("paths");
  EXPECT_EQ(paths.size(), route_table().size());
  for (const RouteInfo& route : route_table()) {
    const base::JsonValue* path = paths.find(route.path);
    ASSERT_NE(path, nullptr) << route.path;
    EXPECT_NE(path->find(route.method == "GET" ? "get" : "post"), nullptr) << route.path;
  }
}

}  // namespace
}  // namespace layard::server
