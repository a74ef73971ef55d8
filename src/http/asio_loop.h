/// What the two files that include Asio share.
#pragma once

#include "http/loop.h"

namespace boost::asio {  // tidy: allow(Names): only declared, so that no header includes Asio
class io_context;
}  // namespace boost::asio

namespace layard::http {

/// The context that `loop` runs. REQUIRES: SocketLoop::create made the loop.
boost::asio::io_context& io_context_of(SocketLoop& loop);

}  // namespace layard::http
