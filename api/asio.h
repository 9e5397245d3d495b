// What the files of the server take of Boost.Asio, and under which names. For those of this folder
// only, which include nothing of Boost before it.
#pragma once

// gcc's thread sanitizer knows no fences; its queues are behind mutexes anyway.
#if defined(__SANITIZE_THREAD__)
#define BOOST_ASIO_DISABLE_FENCED_BLOCK 1
#endif
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

namespace trueup::api {

namespace asio = boost::asio;
using asio::ip::tcp;
using local = asio::local::stream_protocol;

}  // namespace trueup::api
