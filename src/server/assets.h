/// Files that are in the program: the page at `/` and the description of the interface.
///
/// They are in src/server/web and src/server/openapi.json; the build turns them into source.
/// Thread-safety: constants.
/// Source: none; ours.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace layard::server {

struct Asset {
  std::string_view name;  // below src/server: `web/index.html`
  std::string_view content;
};

/// Every file, in order of name.
std::span<const Asset> assets();

/// What the page at `path` consists of: `/` is web/index.html, `/x.js` is web/x.js. Null for none.
const Asset* find_page_file(std::string_view path);

/// By the name's ending; text is UTF-8.
std::string_view content_type_of(std::string_view name);

/// /openapi.json with this program's version in it.
const std::string& openapi_json();

}  // namespace layard::server
