# The password comes through standard input: a command line is for everybody to read.
: "${SUZUMIO_REDIS_PASSWORD:?needed: the password of this Redis}"
exec redis-server /etc/suzumio/redis.conf - <<END
requirepass "$SUZUMIO_REDIS_PASSWORD"
END
