mkdir -p /tmp/data
cp vocabulary.txt /tmp/data
