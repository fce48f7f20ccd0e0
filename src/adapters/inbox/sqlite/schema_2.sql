-- Version 2. Ids are found in memory: an index of texts in no order wrote a page of its own for nearly every delivery.
DROP INDEX delivery_by_id;
ALTER TABLE delivery DROP COLUMN id_key;
